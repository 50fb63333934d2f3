--[[ announce: a running service says which formats it reads, and learns what the others read.

KEYS  formats stops servers
ARGV  now_ms document
Returns {formats, seen, stopped, lost, unheard, server}
      formats: what every running service has announced, this one included; those that do not run any more are taken off
      the list. seen: when each of them announced itself last, ms. stopped: the names of those that said that they stop.
      lost: as seen, the controllers that do not run any more and did not say so; nil: none.
      unheard: as seen, whoever does not run any more and did not say so, while nobody was heard after it on the server
      process to which it spoke last: that one may have died with it, and come back without the last that it wrote; nil:
      nobody.
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
  -- Whoever is silent has changed nothing after this time.
  relied_on_ms = 'integer',
})
local now = time_ms(ARGV[1])
local STOPPED, KEPT_SECONDS = 'stopped', 86400
local server, is_of_cluster = read_server()
if is_of_cluster then server = '' end

-- Notes when somebody announced itself first, and last, to each server process of the last day. Returns whether one
-- that was heard at `seen` was so on a process to which somebody spoke after all that it may have written.
local function note_server()
  local spans = {}
  if server == '' then return function() return false end end
  local entries = redis.call('HGETALL', keys.servers)
  for i = 1, #entries, 2 do
    local first, last = entries[i + 1]:match('^(%d+) (%d+)$')
    if not first or now - tonumber(last) > KEPT_SECONDS * 1000 then
      redis.call('HDEL', keys.servers, entries[i])
    else
      spans[entries[i]] = { tonumber(first), tonumber(last) }
    end
  end
  local span = spans[server] or { now, now }
  -- The clock may have been set back.
  spans[server] = { math.min(span[1], now), now }
  redis.call('HSET', keys.servers, server, string.format('%d %d', unpack(spans[server])))
  redis.call('EXPIRE', keys.servers, KEPT_SECONDS)
  return function(seen)
    for _, each in pairs(spans) do
      if each[1] <= seen and each[2] > seen + args.relied_on_ms then return true end
    end
    return false
  end
end

-- Whoever finds this later finds all that was written before, too, whatever was lost since: see `stops.rs`.
local function note_stop()
  local entries = redis.call('HGETALL', keys.stops)
  for i = 1, #entries, 2 do
    local at = tonumber(entries[i + 1]:match('^%d+'))
    if not at or now - at > KEPT_SECONDS * 1000 then redis.call('HDEL', keys.stops, entries[i]) end
  end
  redis.call('HSET', keys.stops, args.instance, string.format('%d %s', now, server))
  redis.call('EXPIRE', keys.stops, KEPT_SECONDS)
end

redis.call('HSET', keys.formats, args.instance, string.format('%d %s', now, args.formats or STOPPED))
local is_outlived = note_server()
local entries, formats, seen_ms, stopped, lost, unheard = redis.call('HGETALL', keys.formats), {}, {}, {}, {}, {}
-- Where no process is known, nobody is kept as unheard for longer than controllers are.
local unheard_within_ms = server == '' and args.lost_within_ms or KEPT_SECONDS * 1000
for i = 1, #entries, 2 do
  local name, seen, announced = entries[i], entries[i + 1]:match('^(%d+) (.*)$')
  seen = tonumber(seen)
  local ago = seen and now - seen or math.huge
  if ago <= args.seen_within_ms then
    local list = announced == STOPPED and stopped or formats
    list[#list + 1] = announced == STOPPED and name or announced
    seen_ms[name] = seen
  else
    local is_over = announced == STOPPED
    local is_lost = not is_over and ago <= args.lost_within_ms and string.find(name, '^controller%-')
    local is_unheard = not is_over and ago <= unheard_within_ms and not is_outlived(seen)
    if is_lost then lost[name] = seen end
    if is_unheard then unheard[name] = seen end
    if not is_lost and not is_unheard then redis.call('HDEL', keys.formats, name) end
  end
end
if args.has_told and server ~= '' then note_stop() end
return encode({ formats = formats, seen = seen_ms, stopped = stopped, lost = next(lost) and lost or nil,
  unheard = next(unheard) and unheard or nil, server = server })
