--[[ read_places: of a part of a room's places, which are over, and which are AWS-style visitors'.

KEYS  line entered unattended
ARGV  now_ms seen document
Returns {reset_epoch}, and as texts the bits of who has entered or left, of who gave up before a draw, and of AWS-style
      visitors.
]]
local args = arguments({
  -- Which: see lib/bitmaps.
  chunk = 'integer',
})
local line = read_line(keys.line)
if not line then return no_room() end
local function bits(prefix) return redis.call('GET', chunk_key(prefix, args.chunk)) or '' end
return seal({ encode({ reset_epoch = line.reset_epoch }), bits(keys.entered), bits(gone_from_pools(keys)),
  bits(keys.unattended) })
