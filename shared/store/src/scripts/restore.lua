--[[ restore: the leader brings back a room that the store has lost.

KEYS  1 line (hash)  2 settings (hash)  3 rows (zset)  4 sessions (zset)  5 rate (hash)
      6 unattended (bitmap)
ARGV  1 now (ms, 0 = the server's clock)  2 room  3 the leader's epoch  4 reset epoch  5 generation
      6 highest queue number seen  7 serving counter  8 admitted  9 expired  10 skipped
      11 expired position  12 seats that may still be taken  13 for how long, s  14 how long
      presence takes to come together again, s  15 people promised a seat  16 admissions that the
      last minute may hold  17 tokens until (unix s)  18 whether AWS-style visitors were waiting (0, 1)
      19 draws since the reset, as JSON  20 how many  21 first and 22 last number and 23 draw id of
      the pool that waits for a draw  24 hazard  25 version and 26 settings and events as JSON
      27… the phases, as `write_phases` takes them
Returns 1 = restored, 0 = the room is there.
Keeps (1) the queue counter is beyond every number handed out; (2) seats of those not seen again
      stay taken until their sessions must have ended, and so does the rate's last minute;
      (5) the serving counter is where it was.
]]
assert(#KEYS == 6 and #ARGV == 26 + PHASES, 'restore: wrong number of keys or arguments')
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
local now = time_ms(ARGV[1])
redis.call('HSET', KEYS[1], 'leader_epoch', ARGV[3], 'reset_epoch', ARGV[4],
  'generation', ARGV[5], 'queue_counter', -1, 'serving_counter', ARGV[7],
  'admitted', ARGV[8], 'expired', ARGV[9], 'skipped', ARGV[10],
  'expired_position', ARGV[11], 'unconfirmed', ARGV[12],
  'unconfirmed_until', now + tonumber(ARGV[13]) * 1000, 'restored_at', now,
  'presence_from', now + tonumber(ARGV[14]) * 1000, 'promised', ARGV[15], 'tokens_until', ARGV[17],
  'draws', ARGV[19], 'draw_count', ARGV[20], 'pool_first', ARGV[21], 'pool_last', ARGV[22],
  'pool_id', ARGV[23], 'cumulative_hazard', ARGV[24], 'excused_until', now)
redis.call('HSET', KEYS[2], 'version', ARGV[25], 'config', ARGV[26])
write_phases({ line = KEYS[1], settings = KEYS[2] }, read_line(KEYS[1]), now, 27)
catch_up(KEYS[1], read_line(KEYS[1]), tonumber(ARGV[6]))
add_row({ rows = KEYS[3] }, tonumber(ARGV[7]), now, 't')
-- Who of those behind the counter came through the AWS-style calls is lost: all count as there.
if ARGV[18] == '1' then
  for number = math.max(tonumber(ARGV[7]), 0) + 1, tonumber(ARGV[6]) do
    redis.call('SETBIT', KEYS[6], number, 1)
  end
end
rate_take(KEYS[5], nil, now, false, tonumber(ARGV[16]))
publish({ line = KEYS[1], settings = KEYS[2], sessions = KEYS[4], rate = KEYS[5] }, ARGV[2], now)
return 1
