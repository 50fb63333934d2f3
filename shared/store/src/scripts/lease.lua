--[[ lease: acquire, renew or release what one caller at a time may do. The leadership of the controllers is `lead`'s.

KEYS  lease epoch length
ARGV  now_ms document
Returns {is_held}
      is_held: the caller holds the lease now.
Keeps no lease lasts for longer than it was asked for, whatever the server's clock does.
]]
local args = arguments({
  holder = 'text',
  -- For how long; nil = release.
  length_ms = 'integer',
})
if not args.length_ms then
  give_back(args.holder)
  return encode({ is_held = false })
end
local holder = lease_holder()
if holder and holder ~= args.holder then return encode({ is_held = false }) end
take_lease(args.holder, args.length_ms)
-- Counts how often the lease was taken.
if not holder then redis.call('SET', keys.epoch, (tonumber(redis.call('GET', keys.epoch)) or 0) + 1) end
return encode({ is_held = true })
