--[[ check_in: add a batch of presence counts. A visitor gives back its old lease and takes a new one.

KEYS  line presence
ARGV  now_ms reset_epoch | lease difference
Returns  counted
      counted is nil if the room was reset since; then nothing is counted.
Keeps every count is at least one: a lease that the store has lost may be given back without effect.
]]
if redis.call('HGET', keys.line, 'reset_epoch') ~= args.reset_epoch then return reply({}) end
for i = FIRST_ITEM, #ARGV, ITEM_SIZE do
  local item = item_at(i)
  if redis.call('HINCRBY', keys.presence, item.lease, item.difference) <= 0 then
    redis.call('HDEL', keys.presence, item.lease)
  end
end
return reply({ counted = true })
