--[[ remove_foreign: remove those of some keys that are of another type than what is written there.

KEYS  key…
ARGV  now_ms document
Returns {removed}
      removed: of each key, whether it was.
Keeps what services have written stays, whoever writes at the same time.
]]
-- How each of them is read.
local args = arguments({ commands = 'table' })
local removed = {}
for i, key in ipairs(KEYS) do
  local words = { args.commands[i], key }
  if words[1] == 'HGET' or words[1] == 'ZSCORE' then words[3] = '' end
  local found = redis.pcall(unpack(words))
  removed[i] = type(found) == 'table' and found.err ~= nil and string.find(found.err, 'WRONGTYPE', 1, true) ~= nil
  if removed[i] then redis.call('UNLINK', key) end
end
return encode({ removed = removed })
