-- Places in line that nobody has, because their numbers were left out. Needs lib/bitmaps and lib/left_out.

-- within(keys, line, first, last): how many of these places are such ones, and were not used after all. drawn(keys, line,
-- first, last): how many are so in the mean where a draw mixed them with others. beyond(keys, line, target): where the
-- counter has to go to serve as many places of somebody's as it would at `target` without gaps.
local GAPS = {}
do
  local function without(pairs_of, first, last)
    local kept = {}
    for _, pair in ipairs(pairs_of) do
      if pair[1] < first then kept[#kept + 1] = { pair[1], math.min(pair[2], first - 1) } end
      if pair[2] > last then kept[#kept + 1] = { math.max(pair[1], last + 1), pair[2] } end
    end
    return kept
  end

  local function overlap(first, last, from, to) return math.max(math.min(last, to) - math.max(first, from) + 1, 0) end

  local known
  -- Of each draw: first and last place, and how many numbers of nobody it mixed.
  local mixed = {}
  -- A draw mixes those who came with numbers that nobody has: which of its places are somebody's nobody can tell here.
  local function read(keys, line)
    local stored = redis.call('HMGET', keys.line, 'left_out', 'draws')
    known = LEFT_OUT.read(stored[1])
    if #known == 0 then return end
    for _, draw in ipairs(cjson.decode(stored[2] or '[]')) do
      local last, nobodys = draw.first + draw.count - 1, 0
      for _, pair in ipairs(known) do nobodys = nobodys + overlap(draw.first, last, pair[1], pair[2]) end
      if nobodys > 0 then mixed[#mixed + 1] = { first = draw.first, last = last, nobodys = nobodys } end
      known = without(known, draw.first, last)
    end
    if line.pool_first > 0 then
      known = without(known, line.pool_first, line.pool_last > 0 and line.pool_last or math.huge)
    end
  end

  local function each(keys, line)
    if not known then read(keys, line) end
    return ipairs(known)
  end

  function GAPS.within(keys, line, first, last)
    local count = 0
    for _, pair in each(keys, line) do
      local from, to = math.max(pair[1], first), math.min(pair[2], last)
      if from <= to then count = count + to - from + 1 - count_bits(keys.entered, from, to) end
    end
    return count
  end

  function GAPS.drawn(keys, line, first, last)
    if not known then read(keys, line) end
    local count = 0
    for _, draw in ipairs(mixed) do
      local places = overlap(draw.first, draw.last, first, last)
      count = count + math.floor(places * draw.nobodys / (draw.last - draw.first + 1))
    end
    return count
  end

  function GAPS.beyond(keys, line, target)
    for _, pair in each(keys, line) do
      local first = math.max(pair[1], line.serving_counter + 1)
      if first <= pair[2] and first <= target then target = target + pair[2] - first + 1 end
    end
    return target
  end
end
