-- Leases: what one caller at a time holds, for a while.

-- What lasts for longer than it was given for was given before the clock was set back. Of a lease of a release that
-- notes no length, or if the server does not say, nobody knows.
local function has_lapsed()
  local length, left = tonumber(redis.call('GET', keys.length)), redis.pcall('PTTL', keys.lease)
  return length and type(left) == 'number' and left > length
end

-- Who holds the lease; nil: nobody.
local function lease_holder()
  local holder = redis.call('GET', keys.lease)
  if not holder or has_lapsed() then return nil end
  return holder
end

local function take_lease(caller, length_ms)
  redis.call('SET', keys.lease, caller, 'PX', length_ms)
  redis.call('SET', keys.length, length_ms, 'PX', length_ms)
end

-- Gives the lease up, if the caller has it.
local function give_back(caller)
  if redis.call('GET', keys.lease) == caller then redis.call('DEL', keys.lease, keys.length) end
end
