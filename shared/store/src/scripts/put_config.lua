--[[ put_config: create a room, or change its settings and events. The line stays as it is.

KEYS  line settings sessions rate
ARGV  now_ms document
Returns {outcome}
      Outcomes: created, changed, conflict (someone else changed it since the caller read it).
]]
local args = arguments({
  room = 'text',
  -- The version that the caller changed; nil = any.
  version = 'integer',
  -- Settings and events, JSON.
  config = 'text',
  -- See `write_phases`.
  phases = 'table',
})
local now = time_ms(ARGV[1])
local exists = redis.call('EXISTS', keys.line) == 1
local version = tonumber(redis.call('HGET', keys.settings, 'version')) or 0
if args.version and args.version ~= version then return encode({ outcome = 'conflict' }) end
if not exists then
  -- The epoch is a time, so that ids of a deleted room of this name stay invalid.
  redis.call('HSET', keys.line, 'reset_epoch', now, 'generation', 1)
end
-- Numbers handed out until now belong to the old settings: open or close the pool by those first.
local line = read_line(keys.line)
local before = read_settings(keys.settings, now)
if exists and before then keep_pool(keys.line, line, before) end
redis.call('HSET', keys.settings, 'config', args.config, 'version', version + 1)
-- How often check-ins are noted in tickets follows from the grace time, which may be another now: nobody is
-- blamed for what was not noted under the old one.
if exists then line.excused_until = math.max(line.excused_until, now) end
write_phases(keys, line, now, args.phases)
keep_pool(keys.line, line, read_settings(keys.settings, now))
publish(keys, args.room, now)
return encode({ outcome = exists and 'changed' or 'created' })
