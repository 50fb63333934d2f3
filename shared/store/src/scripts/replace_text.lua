--[[ replace_text: replace a text of the deployment (the tokens, the webhooks) by what the caller made of it.

KEYS  text
ARGV  now_ms document
Returns {replaced}
      replaced: false if it has changed since the caller read it. It may call again, if it was not answered.
]]
local args = arguments({
  -- The text as the caller read it, nil: there was none; and the changed one.
  read = 'text', changed = 'text',
})
local now = redis.call('GET', keys.text) or nil
local replaced = now == args.read or now == args.changed
if replaced then redis.call('SET', keys.text, args.changed) end
return encode({ replaced = replaced })
