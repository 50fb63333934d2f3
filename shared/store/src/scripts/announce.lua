--[[ announce: a running service says which formats it reads, and learns what the others read.

KEYS  formats stops
ARGV  now_ms document
Returns {formats, seen, stopped, lost, server}
      formats: what every running service has announced, this one included; those that do not run any more are taken off
      the list. seen: when each of them announced itself last, ms. stopped: the names of those that said that they stop.
      lost: as seen, the controllers that do not run any more and did not say so; nil: none.
      server: the run_id of this server process; empty: it is not known, or rooms may be on other ones.
]]
local args = arguments({
  instance = 'text',
  -- The newest versions that it reads, JSON; nil: it stops, and has seen all that it will ever see.
  formats = 'text',
  -- Who stops: whether this server holds all that it has seen of rooms, or was told it.
  has_told = 'flag',
  -- An instance that runs was seen within this time.
  seen_within_ms = 'integer',
  -- A controller that does not is kept on the list for this time, as lost.
  lost_within_ms = 'integer',
})
local now = time_ms(ARGV[1])
local STOPPED, STOPS_KEPT_SECONDS = 'stopped', 86400

-- Whoever finds this later finds all that was written before, too, whatever was lost since: see `stops.rs`.
local function note_stop(server)
  local entries = redis.call('HGETALL', keys.stops)
  for i = 1, #entries, 2 do
    local at = tonumber(entries[i + 1]:match('^%d+'))
    if not at or now - at > STOPS_KEPT_SECONDS * 1000 then redis.call('HDEL', keys.stops, entries[i]) end
  end
  redis.call('HSET', keys.stops, args.instance, string.format('%d %s', now, server))
  redis.call('EXPIRE', keys.stops, STOPS_KEPT_SECONDS)
end

redis.call('HSET', keys.formats, args.instance, string.format('%d %s', now, args.formats or STOPPED))
local entries, formats, seen_ms, stopped, lost = redis.call('HGETALL', keys.formats), {}, {}, {}, {}
for i = 1, #entries, 2 do
  local name, seen, announced = entries[i], entries[i + 1]:match('^(%d+) (.*)$')
  local ago = seen and now - tonumber(seen) or math.huge
  if ago <= args.seen_within_ms then
    local list = announced == STOPPED and stopped or formats
    list[#list + 1] = announced == STOPPED and name or announced
    seen_ms[name] = tonumber(seen)
  elseif ago <= args.lost_within_ms and announced ~= STOPPED and string.find(name, '^controller%-') then
    lost[name] = tonumber(seen)
  else
    redis.call('HDEL', keys.formats, name)
  end
end
local server, is_of_cluster = read_server()
if is_of_cluster then server = '' end
if args.has_told and server ~= '' then note_stop(server) end
return encode({ formats = formats, seen = seen_ms, stopped = stopped, lost = next(lost) and lost or nil,
  server = server })
