--[[ take_changes: an admission says up to which revision it goes by all changes, and asks for more.

KEYS  1 changes (zset: room -> revision of its last change)
      2 admissions (hash: instance -> when it was last seen, and its revision)
ARGV  1 now (ms, 0 = the server's clock)  2 instance
      3 the revision that it goes by ('' = none yet: nobody waits for it)
Returns {the newest revision (0 = none), {the rooms that changed after the instance's}}.
]]
assert(#KEYS == 2 and #ARGV == 3, 'take_changes: wrong number of keys or arguments')
local newest = redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')
local revision = tonumber(newest[2]) or 0
if ARGV[3] == '' then return { revision, {} } end
redis.call('HSET', KEYS[2], ARGV[2], string.format('%d %s', time_ms(ARGV[1]), ARGV[3]))
return { revision, redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. ARGV[3], '+inf') }
