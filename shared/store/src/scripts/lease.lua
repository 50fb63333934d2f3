--[[ lease: acquire, renew or release the leadership of the controllers, or another thing that one
at a time may do.

KEYS  lease epoch length
ARGV  now_ms document
Returns {epoch}
      epoch: that of its term while the caller holds the lease, else nil.
Keeps an epoch belongs to one term of one holder, and every term's is higher than all before it, also than those that
      Redis has forgotten; no lease lasts for longer than it was asked for, whatever the server's clock does.
]]
local args = arguments({
  holder = 'text',
  -- For how long; nil = release.
  length_ms = 'text',
  -- The highest epoch that the caller has seen.
  known_epoch = 'integer',
})
-- What lasts for longer than it was given for was given before the clock was set back. Of a lease of a release that
-- notes no length, or if the server does not say, nobody knows.
local function has_lapsed()
  local length, left = tonumber(redis.call('GET', keys.length)), redis.pcall('PTTL', keys.lease)
  return length and type(left) == 'number' and left > length
end
local holder = redis.call('GET', keys.lease)
if not args.length_ms then
  if holder == args.holder then redis.call('DEL', keys.lease, keys.length) end
  return '{}'
end
if holder and has_lapsed() then holder = false end
if holder and holder ~= args.holder then return '{}' end
redis.call('SET', keys.lease, args.holder, 'PX', args.length_ms)
redis.call('SET', keys.length, args.length_ms, 'PX', args.length_ms)
local epoch = tonumber(redis.call('GET', keys.epoch)) or 0
-- Redis may have gone back, and the term with it.
if not holder or epoch == 0 or epoch < args.known_epoch then
  epoch = math.max(epoch, args.known_epoch) + 1
  redis.call('SET', keys.epoch, epoch)
end
return encode({ epoch = epoch })
