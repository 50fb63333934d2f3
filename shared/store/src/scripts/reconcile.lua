--[[ reconcile: the leader brings a room to the latest state that anybody knows of. `rebuild` follows for its seats,
and `reopen` at the end.

KEYS  line settings sessions records tokens entered unattended rate rows grants door asked passed seatless holds there scratch traffic ended testimony calls
ARGV  now_ms seen document
Returns {done}
      done: false if another round has begun since, or something more was lost.
Keeps (1) the queue counter is above every number handed out; (5) the serving counter is not below where anybody saw
      it; (6) numbers keep their meaning: nothing is dropped but what was of before a reset.
]]
local args = arguments({
  room = 'text', round = 'text', leader_epoch = 'integer',
  -- What is stored is of before a reset, or nothing.
  begins_anew = 'flag',
  reset_epoch = 'integer', generation = 'integer', nonce = 'text', seq = 'integer',
  -- Which states it follows from, JSON.
  follows = 'text',
  -- The highest queue number seen; how many above it may be somebody's; and the counters to go on with.
  queue_counter = 'integer', gap = 'integer', serving_counter = 'integer', admitted = 'integer',
  expired = 'integer', left = 'integer', expired_position = 'integer',
  -- Numbers that were left out, and how many more are skipped.
  left_out = 'table', unlisted = 'integer',
  cumulative_hazard = 'integer', tokens_until = 'integer',
  -- For how long presence is incomplete.
  presence_seconds = 'integer',
  -- How many may have been admitted in the last minute; nil = as many as the rate allows.
  admitted_last_minute = 'integer',
  -- How many of them are known of.
  seen_last_minute = 'integer',
  -- The first and the last of the numbers that may be AWS-style visitors', of which nobody knows better; nil: none.
  unattended = 'table',
  -- Draws since the reset, JSON, and the pool that waits for one.
  draws = 'text', draw_count = 'integer', pool_first = 'integer', pool_last = 'integer', pool_id = 'text',
  -- As in `put_config`.
  version = 'integer', config = 'text', phases = 'table',
})
local line = read_line(keys.line)
local refusal = line and fenced(keys.line, line, args.leader_epoch)
if refusal then return refusal end
if redis.call('HGET', keys.testimony, 'round') ~= args.round then return answer({ done = false }) end
-- The leader does not know of it.
if stamp and stamp.is_partial or not line and not args.begins_anew then return answer({ done = false }) end

-- Where the settings alone were lost the line still says what it counted.
local counted = line and line.reset_epoch == args.reset_epoch and line or nil
if args.begins_anew then
  if line then drop_places(keys, line, now) end
  for name, key in pairs(keys) do
    -- Who entered a moment ago counts against the rate, whatever line they came from.
    -- What was done once stays done.
    local stays = name == 'settings' or name == 'rate' or name == 'testimony' or name == 'calls'
    if not stays then redis.call('UNLINK', key) end
  end
end
-- A counter never goes below what is stored, but for the serving counter: an operator may have lowered it.
local function highest(name) return math.max(counted and counted[name] or 0, args[name]) end
local seq = math.max(stamp and stamp.seq or 0, args.seq) + 1
begin_state(args.reset_epoch, args.generation, args.nonce, seq, args.follows)
local top, known = highest('queue_counter'), args.begins_anew and 0 or line.queue_counter
-- Which draw a pool waits for is known for certain where the pool is stored.
local is_pool_stored = not args.begins_anew and args.pool_first > 0 and line.pool_first == args.pool_first
local pool_id = is_pool_stored and redis.call('HGET', keys.line, 'pool_id') or ''
if pool_id == '' then pool_id = args.pool_id end
if args.begins_anew then line = { skipped = 0 } end
redis.call('HSET', keys.line, 'suspect', 'reconciled', 'leader_epoch', args.leader_epoch,
  'queue_counter', top, 'serving_counter', args.serving_counter, 'admitted', highest('admitted'),
  'expired', highest('expired'), 'left', highest('left'),
  -- Whoever is served again has its time anew, though somebody remember that it was over.
  'expired_position', math.min(highest('expired_position'), math.max(args.serving_counter, 0)), 'promised', 0,
  'cumulative_hazard', highest('cumulative_hazard'), 'tokens_until', highest('tokens_until'),
  -- Presence is unknown until visitors have checked in again; and whoever was served had no chance to come.
  'presence_from', now + args.presence_seconds * 1000, 'excused_until', now, 'restored_at', now, 'held_from', 0, 'held_at', now,
  'draws', args.draws, 'draw_count', args.draw_count,
  'pool_first', args.pool_first, 'pool_last', args.pool_last, 'pool_id', pool_id, 'served_lately', '', 'assumed', 0, 'numbers_ticked_at', 0)
LEFT_OUT.add(keys.line, line, args.left_out, args.unlisted)
if args.gap > 0 then LEFT_OUT.skip(keys.line, line, top, args.gap) end
-- Of the config that is stored, too, the phases are written: more than one may have begun meanwhile.
if args.begins_anew or args.version >= (tonumber(redis.call('HGET', keys.settings, 'version')) or 0) then
  redis.call('HSET', keys.settings, 'version', args.version, 'config', args.config)
  write_phases(keys, read_line(keys.line), now, args.phases)
end
-- Those above were served by moves that an operator has taken back since: they wait.
redis.call('ZREMRANGEBYSCORE', keys.rows, string.format('(%d', args.serving_counter), '+inf')
if not row_for(keys, args.serving_counter) then add_row(keys, args.serving_counter, now, 't') end
-- Nor has whoever was served, or stood at the door, been heard since: nobody is ripe yet.
note_move(keys, args.serving_counter, now)
if args.unattended then
  local first, last = tonumber(args.unattended[1]), tonumber(args.unattended[2])
  fill_bits(keys.unattended, math.max(known + 1, first), last)
end
local settings = read_settings(keys.settings, now)
local rate = settings.new_users_per_minute
local stored = rate_used(keys.rate, now)
local seen = math.max((args.admitted_last_minute or args.seen_last_minute) - stored, 0)
rate_take(keys.rate, nil, now, false, seen)
if not args.admitted_last_minute then ASSUMED.take(now, math.max((rate or 0) - stored - seen, 0), args.admitted) end
return answer({ done = true })
