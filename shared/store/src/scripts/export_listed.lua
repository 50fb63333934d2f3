--[[ export_listed: what some of a room's listed keys hold, for a backup: see lib/listed.lua.

KEYS  line calls networks
ARGV  now_ms seen document
Returns found
      found: of each key that is still there its name on the list, for how long it lasts, ms, and what it holds: a text, or
      the members of a sorted set, each before its score. Of a set of marks nothing: a million may be in it, and it is
      read by pages.
]]
local args = arguments({
  -- Which list: `calls` or `networks`.
  of = 'text',
  names = 'table',
})

local function holding(key, name)
  if args.of == 'networks' then return redis.call('ZRANGE', key, 0, -1, 'WITHSCORES') end
  if string.match(name, '^spent:') then return {} end
  return { redis.call('GET', key) }
end

local found = {}
for _, name in ipairs(args.names) do
  local key = keys[args.of] .. ':' .. name
  local left_ms = redis.call('PTTL', key)
  if left_ms > 0 then found[#found + 1] = { name, left_ms, holding(key, name) } end
end
return seal(found)
