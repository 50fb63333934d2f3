--[[ put_config: create a room, or change its settings and events. The line stays as it is.

KEYS  counts line settings sessions records tokens entered unattended rate rows grants door asked passed seatless holds there scratch traffic ended testimony calls
ARGV  now_ms seen document
Returns {outcome}
      Outcomes: created, changed, conflict (someone else changed it, or created it, since the caller read it).
]]
local args = arguments({
  room = 'text',
  -- The version that the caller changed; nil = any.
  version = 'integer',
  -- Whether there must be no such room.
  new_only = 'flag',
  -- Names the state of a room that is created.
  nonce = 'text',
  -- The reset epoch of a room that is created is not below this: that of a deleted room of this name is.
  least_epoch = 'integer',
  -- Settings and events, JSON.
  config = 'text',
  -- See `write_phases`.
  phases = 'table',
})
local exists = stamp and true or false
-- The room is there, and Redis has lost it: somebody is about to bring it back.
if not exists and (was_seen or redis.call('EXISTS', keys.testimony) == 1) then return no_room() end
local version = tonumber(redis.call('HGET', keys.settings, 'version')) or 0
if args.new_only and exists then return answer({ outcome = 'conflict' }) end
if args.version and args.version ~= version then return answer({ outcome = 'conflict' }) end
-- The epoch is a time, so that ids of a deleted room of this name stay invalid.
if not exists then
  -- Of a room whose line alone was lost the rest may be left, which is of other people with the same numbers.
  drop_places(keys, nil, now)
  for name, key in pairs(keys) do
    local stays = name == 'settings' or name == 'rate' or name == 'testimony' or name == 'counts' or name == 'calls'
    if not stays then redis.call('UNLINK', key) end
  end
  begin_state(math.max(now, args.least_epoch), 1, args.nonce)
  -- A reset keeps it: what calls were answered before is of another room, see `lib/once`.
  redis.call('HSET', keys.settings, 'created_epoch', stamp.reset_epoch)
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
return answer({ outcome = exists and 'changed' or 'created' })
