--[[ lease: acquire, renew or release the leadership of the controllers, or another thing that one
     at a time may do.

KEYS  1 lease (string: who holds it; expires)  2 epoch (counter)
ARGV  1 instance  2 length (ms; 0 = release)  3 highest epoch that the caller has seen
Returns the epoch while the caller leads, 0 otherwise.
Keeps an epoch belongs to one term of one leader, and every term's is higher than all before it.
]]
assert(#KEYS == 2 and #ARGV == 3, 'lease: wrong number of keys or arguments')
local holder = redis.call('GET', KEYS[1])
if ARGV[2] == '0' then
  if holder == ARGV[1] then redis.call('DEL', KEYS[1]) end
  return 0
end
if holder and holder ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
local epoch = tonumber(redis.call('GET', KEYS[2])) or 0
if not holder or epoch == 0 then
  epoch = math.max(epoch, tonumber(ARGV[3])) + 1
  redis.call('SET', KEYS[2], epoch)
end
return epoch
