--[[ lease: acquire, renew or release what one caller at a time may do. The leadership of the controllers is `lead`'s.

KEYS  lease epoch length
ARGV  now_ms document
Returns {is_held, epoch}
      is_held: the caller holds the lease now. epoch: how often it was taken until now.
Keeps no lease lasts for longer than it was asked for, whatever the server's clock does.
]]
local args = arguments({
  holder = 'text',
  -- For how long; nil = release.
  length_ms = 'integer',
})
local epoch = tonumber(redis.call('GET', keys.epoch)) or 0
if not args.length_ms then
  give_back(args.holder)
  return encode({ is_held = false, epoch = epoch })
end
local holder = lease_holder()
if holder and holder ~= args.holder then return encode({ is_held = false, epoch = epoch }) end
take_lease(args.holder, args.length_ms)
if not holder then
  epoch = epoch + 1
  redis.call('SET', keys.epoch, epoch)
end
return encode({ is_held = true, epoch = epoch })
