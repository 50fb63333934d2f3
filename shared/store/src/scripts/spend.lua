--[[ spend: solutions and passes are used, each of them once.

KEYS  line calls
ARGV  now_ms seen document
Returns {is_first}
      is_first: for each mark, whether it was not used before; one that is taken back may be used again.
Keeps a mark is remembered for as long as what it is of is valid, and no longer than a minute more.
]]
-- marks: { name, expires_at, is_taken_back }, unix s.
local args = arguments({ marks = 'table' })
if not stamp then return no_room() end
local is_first = {}
for i, mark in ipairs(args.marks) do
  local minute = math.floor(tonumber(mark.expires_at) / 60) + 1
  local left = minute * 60 - math.floor(now / 1000)
  -- Those that expire in the same minute share a key.
  local key = string.format('%s:spent:%d', keys.calls, minute)
  if mark.is_taken_back then
    redis.call('SREM', key, mark.name)
    is_first[i] = false
  elseif left > 0 then
    is_first[i] = redis.call('SADD', key, mark.name) == 1
    redis.call('EXPIRE', key, left)
    LISTED.note(keys.calls, string.format('spent:%d', minute), left)
  else
    is_first[i] = false
  end
end
return answer({ is_first = is_first })
