--[[ replace_key_ring: replace the key ring by the one that the caller made of it.

KEYS  key_ring
ARGV  now_ms document
Returns {replaced}
      replaced: false if the ring has changed since the caller read it.
]]
local args = arguments({
  -- The ring as the caller read it, nil: there was none; and the changed ring.
  read = 'text', changed = 'text',
})
local replaced = (redis.call('GET', keys.key_ring) or nil) == args.read
if replaced then redis.call('SET', keys.key_ring, args.changed) end
return encode({ replaced = replaced })
