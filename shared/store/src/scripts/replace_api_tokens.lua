--[[ replace_api_tokens: replace the set of tokens by the one that the caller made of it.

KEYS  api_tokens
ARGV  now_ms document
Returns {replaced}
      replaced: false if the set has changed since the caller read it.
]]
local args = arguments({
  -- The set as the caller read it, nil: there was none; and the changed set.
  read = 'text', changed = 'text',
})
local replaced = (redis.call('GET', keys.api_tokens) or nil) == args.read
if replaced then redis.call('SET', keys.api_tokens, args.changed) end
return encode({ replaced = replaced })
