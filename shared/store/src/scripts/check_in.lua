--[[ check_in: add a batch of presence counts. A visitor gives back the lease that it held and takes
a new one.

KEYS  line presence
ARGV  now_ms reset_epoch | lease difference
Returns  counted
      counted is nil when the room was reset since: nothing is counted then.
Keeps a count is never below one: what was lost with the store cannot be given back.
]]
if redis.call('HGET', keys.line, 'reset_epoch') ~= args.reset_epoch then return reply({}) end
for i = FIRST_ITEM, #ARGV, ITEM_SIZE do
  local item = item_at(i)
  if redis.call('HINCRBY', keys.presence, item.lease, item.difference) <= 0 then
    redis.call('HDEL', keys.presence, item.lease)
  end
end
return reply({ counted = true })
