-- The list of places that operators have revoked since the last reset: whoever starts reads it, so that every service
-- answers who had one. Whoever has heard of them puts them back after a loss.

-- REMEMBERED_S: for how long services tell each other of such a place, s; then the bit of its place alone says so.
local REVOKED = { REMEMBERED_S = 86400 }
do
  local MOST = 10000

  local function key_of(keys, line) return string.format('%s:%d', keys.revoked, line.reset_epoch) end

  REVOKED.is_listed = function(keys, line, number) return redis.call('ZSCORE', key_of(keys, line), number) end

  -- The newest ones are kept.
  REVOKED.list = function(keys, line, number, at)
    local key = key_of(keys, line)
    redis.call('ZADD', key, 'NX', at, number)
    redis.call('ZREMRANGEBYRANK', key, 0, -MOST - 1)
    redis.call('EXPIRE', key, REVOKED.REMEMBERED_S)
  end
end
