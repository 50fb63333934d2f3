--[[ check_in: add a batch of presence counts.

KEYS  1 line (hash)  2 presence (hash: lease -> visitors who hold it)
ARGV  1 reset epoch, then pairs of lease and difference (a visitor gives back the lease it held and
      takes a new one)
Returns 1, or 0 when the room was reset since: nothing is counted.
Keeps a count is never below one: what was lost with the store cannot be given back.
]]
assert(#KEYS == 2 and #ARGV >= 1 and #ARGV % 2 == 1, 'check_in: wrong number of keys or arguments')
if redis.call('HGET', KEYS[1], 'reset_epoch') ~= ARGV[1] then return 0 end
for i = 2, #ARGV, 2 do
  if redis.call('HINCRBY', KEYS[2], ARGV[i], ARGV[i + 1]) <= 0 then
    redis.call('HDEL', KEYS[2], ARGV[i])
  end
end
return 1
