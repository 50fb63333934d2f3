--[[ replace_api_tokens: replace the set of tokens by the one that the caller made of it.

KEYS  api_tokens
ARGV  now_ms document
Returns {replaced}
      replaced: false if the set has changed since the caller read it. It may call again, if it was not answered.
]]
local args = arguments({
  -- The set as the caller read it, nil: there was none; and the changed set.
  read = 'text', changed = 'text',
})
local now = redis.call('GET', keys.api_tokens) or nil
local replaced = now == args.read or now == args.changed
if replaced then redis.call('SET', keys.api_tokens, args.changed) end
return encode({ replaced = replaced })
