-- Presence of newcomers, counted in the call that numbers them. The rule is that of `Lease::initial`
-- in the domain crate; a test compares the two.

local RANGES_PER_OCTAVE_LOG2 = 4
local INITIAL_SECONDS = 5
-- The width that marks the lease of a pool that waits for a draw.
local POOL = 63

local function log2(n)
  local _, exponent = math.frexp(n)
  return exponent - 1
end

-- Counts the numbers first..last as present for INITIAL_SECONDS, until their first check-in. Visitors
-- who wait for a draw are counted under its index, `pool`.
local function count_newcomers(key, first, last, serving, now, pool)
  serving = math.max(serving, 0)
  local slice = math.ceil(now / 1000) + INITIAL_SECONDS
  if pool and first <= last then
    redis.call('HINCRBY', key, string.format('%d.%d.%d', slice, POOL, pool), last - first + 1)
    return
  end
  while first <= last do
    local octave = log2(math.max(first - serving, 1))
    local width = math.max(octave - RANGES_PER_OCTAVE_LOG2, 0)
    while first >= 2 ^ (width + 32) do width = width + 1 end
    local index = math.floor(first / 2 ^ width)
    local to = math.min(last, (index + 1) * 2 ^ width - 1, serving + 2 ^ (octave + 1) - 1)
    to = math.max(to, first)
    redis.call('HINCRBY', key, string.format('%d.%d.%d', slice, width, index), to - first + 1)
    first = to + 1
  end
end
