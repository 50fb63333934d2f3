--[[ complete_import: a restore has put everything back: the keyspace gets its version, and its mark goes.

KEYS  schema import
ARGV  now_ms document
Returns {is_complete}
      is_complete: false = there is no mark, nor this version: the server has lost what it was told.
Keeps a keyspace of which a part is there has no version.
]]
local args = arguments({ schema = 'integer' })
if redis.call('EXISTS', keys.import) == 0 then
  -- Without the mark it is a call whose answer was lost, or not the server that was marked.
  return encode({ is_complete = tonumber(redis.call('GET', keys.schema)) == args.schema })
end
redis.call('SET', keys.schema, args.schema)
redis.call('DEL', keys.import)
return encode({ is_complete = true })
