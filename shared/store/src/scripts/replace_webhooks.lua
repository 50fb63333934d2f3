--[[ replace_webhooks: replace the webhooks by what the caller made of them.

KEYS  webhooks
ARGV  now_ms document
Returns {replaced}
      replaced: false if they have changed since the caller read them.
]]
local args = arguments({
  -- The webhooks as the caller read them, nil: there were none; and the changed ones.
  read = 'text', changed = 'text',
})
local replaced = (redis.call('GET', keys.webhooks) or nil) == args.read
if replaced then redis.call('SET', keys.webhooks, args.changed) end
return encode({ replaced = replaced })
