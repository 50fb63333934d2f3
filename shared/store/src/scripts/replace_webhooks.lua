--[[ replace_webhooks: replace the webhooks by what the caller made of them.

KEYS  webhooks
ARGV  now_ms document
Returns {replaced}
      replaced: false if they have changed since the caller read them. It may call again, if it was not answered.
]]
local args = arguments({
  -- The webhooks as the caller read them, nil: there were none; and the changed ones.
  read = 'text', changed = 'text',
})
local now = redis.call('GET', keys.webhooks) or nil
local replaced = now == args.read or now == args.changed
if replaced then redis.call('SET', keys.webhooks, args.changed) end
return encode({ replaced = replaced })
