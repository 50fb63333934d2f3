-- Lists of keys whose names nobody could find otherwise, of those that go with a room that moves to another Redis: in the
-- sorted set `calls` those of what calls were answered and of marks that were used, in `networks` those of networks'
-- seats. Each is listed by the end of its name, behind that of the list, until when it lasts, ms.

-- LISTED.note(list, name, kept_s).
local LISTED = {}
do
  -- Longer than anything that is listed, s.
  local KEPT_S = 1296000
  -- The list holds so many; beyond them those that end first go.
  local MOST = 100000
  -- So many that are over are looked for at once, of each list once in a script.
  local MOST_AT_ONCE = 100
  local tidied = {}

  local function tidy(list)
    if tidied[list] then return end
    tidied[list] = true
    local over = redis.call('ZRANGEBYSCORE', list, '-inf', now, 'LIMIT', 0, MOST_AT_ONCE)
    if #over == 0 and redis.call('ZCARD', list) > MOST then over = redis.call('ZRANGE', list, 0, MOST_AT_ONCE - 1) end
    if #over > 0 then redis.call('ZREM', list, unpack(over)) end
  end

  LISTED.note = function(list, name, kept_s)
    redis.call('ZADD', list, string.format('%.0f', now + kept_s * 1000), name)
    redis.call('EXPIRE', list, KEPT_S)
    tidy(list)
  end
end
