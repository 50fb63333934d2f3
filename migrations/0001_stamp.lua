--[[ migration 1, stamp: an empty keyspace gets its first schema version.

KEYS  1 schema version (string)
ARGV  1 this migration's version
]]
assert(#KEYS == 1 and #ARGV == 1, 'migration 1: wrong number of keys or arguments')
if (tonumber(redis.call('GET', KEYS[1])) or 0) < tonumber(ARGV[1]) then
  redis.call('SET', KEYS[1], ARGV[1])
end
