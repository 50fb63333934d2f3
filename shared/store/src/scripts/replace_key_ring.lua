--[[ replace_key_ring: put a changed key ring in the place of the one that the caller changed.

KEYS  1 key ring (string: the sealed keys, JSON)
ARGV  1 the ring as the caller read it  2 the changed ring
Returns 1 if it was replaced, 0 if the ring is another by now.
]]
assert(#KEYS == 1 and #ARGV == 2, 'replace_key_ring: wrong number of keys or arguments')
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2])
return 1
