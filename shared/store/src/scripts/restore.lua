--[[ restore: the leader brings back a room that the store has lost.

KEYS  line settings rows sessions rate unattended
ARGV  now_ms document
Returns {restored}
      restored: false if the line exists. Settings that are lost come back all the same, and the line
      stays as it is.
Keeps (1) the queue counter is above every number handed out; (2) seats of visitors who have not come
      back stay taken until their sessions must have ended, and admissions of the last minute count;
      (5) the serving counter is not below where it was.
]]
local args = arguments({
  room = 'text', leader_epoch = 'text', reset_epoch = 'text', generation = 'text',
  -- The highest queue number seen, and the counters to go on with.
  queue_counter = 'integer', serving_counter = 'integer', admitted = 'text', expired = 'text',
  left = 'text',
  skipped = 'text', expired_position = 'text', cumulative_hazard = 'text',
  -- Seats that may still be taken, and for how long.
  unconfirmed = 'text', seats_held_seconds = 'integer',
  -- For how long presence is incomplete.
  presence_seconds = 'integer',
  -- How many may have been admitted in the last minute.
  admitted_last_minute = 'integer',
  -- When the last AWS-style token expires, unix s.
  tokens_until = 'text',
  -- Whether AWS-style visitors were waiting.
  had_unattended = 'flag',
  -- Draws since the reset, JSON, and the pool that waits for one.
  draws = 'text', draw_count = 'text', pool_first = 'text', pool_last = 'text', pool_id = 'text',
  -- As in `put_config`.
  version = 'text', config = 'text', phases = 'table',
})
local now = time_ms(ARGV[1])

local function restore_settings()
  redis.call('HSET', keys.settings, 'version', args.version, 'config', args.config)
  write_phases(keys, read_line(keys.line), now, args.phases)
end

if redis.call('EXISTS', keys.line) == 1 then
  if not read_settings(keys.settings, now) then
    restore_settings()
    publish(keys, args.room, now)
  end
  return encode({ restored = false })
end
-- The queue counter is set last, by `catch_up`, which leaves a gap above the highest number seen.
redis.call('HSET', keys.line, 'leader_epoch', args.leader_epoch, 'reset_epoch', args.reset_epoch,
  'generation', args.generation, 'queue_counter', -1, 'serving_counter', args.serving_counter,
  'admitted', args.admitted, 'expired', args.expired, 'left', args.left,
  'skipped', args.skipped,
  'expired_position', args.expired_position, 'unconfirmed', args.unconfirmed,
  'unconfirmed_until', now + args.seats_held_seconds * 1000, 'restored_at', now,
  -- Presence is unknown until visitors have checked in again.
  'presence_from', now + args.presence_seconds * 1000, 'promised', 0,
  'tokens_until', args.tokens_until, 'draws', args.draws, 'draw_count', args.draw_count,
  'pool_first', args.pool_first, 'pool_last', args.pool_last, 'pool_id', args.pool_id,
  'cumulative_hazard', args.cumulative_hazard, 'excused_until', now)
restore_settings()
catch_up(keys.line, read_line(keys.line), args.queue_counter)
add_row(keys, args.serving_counter, now, 't')
-- Which of those who wait came by the AWS-style calls is lost, so all of them may be there.
if args.had_unattended then
  fill_bits(keys.unattended, math.max(args.serving_counter, 0) + 1, args.queue_counter)
end
rate_take(keys.rate, nil, now, false, args.admitted_last_minute)
publish(keys, args.room, now)
return encode({ restored = true })
