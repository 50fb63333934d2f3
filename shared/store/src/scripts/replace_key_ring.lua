--[[ replace_key_ring: put a changed key ring in the place of the one that the caller changed.

KEYS  key_ring
ARGV  now_ms document
Returns {replaced}
      replaced: false when the ring is another by now.
]]
local args = arguments({
  -- The ring as the caller read it, and the changed ring.
  read = 'text', changed = 'text',
})
local replaced = redis.call('GET', keys.key_ring) == args.read
if replaced then redis.call('SET', keys.key_ring, args.changed) end
return encode({ replaced = replaced })
