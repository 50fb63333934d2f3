--[[ lease: acquire, renew or release the leadership of the controllers, or another thing that one
at a time may do.

KEYS  lease epoch
ARGV  now_ms document
Returns {epoch}
      epoch: that of its term while the caller holds the lease, else nil.
Keeps an epoch belongs to one term of one holder, and every term's is higher than all before it.
]]
local args = arguments({
  holder = 'text',
  -- For how long; nil = release.
  length_ms = 'text',
  -- The highest epoch that the caller has seen.
  known_epoch = 'integer',
})
local holder = redis.call('GET', keys.lease)
if not args.length_ms then
  if holder == args.holder then redis.call('DEL', keys.lease) end
  return '{}'
end
if holder and holder ~= args.holder then return '{}' end
redis.call('SET', keys.lease, args.holder, 'PX', args.length_ms)
local epoch = tonumber(redis.call('GET', keys.epoch)) or 0
if not holder or epoch == 0 then
  epoch = math.max(epoch, args.known_epoch) + 1
  redis.call('SET', keys.epoch, epoch)
end
return encode({ epoch = epoch })
