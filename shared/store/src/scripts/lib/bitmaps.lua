-- Bits by place, kept in chunks: who has entered or left (`entered`), which places AWS-style visitors hold
-- (`unattended`), and, by number, who gave its place up while it waited for a draw (`gone_from_pools`). Chunks and
-- blocks are those of `presence::chunk` in the domain crate. Services remember these bits: see `memory/places.rs`.

local CHUNK_PLACES, BLOCK_PLACES, BLOCKS = 130560, 8160, 16

-- The prefix of the bits of those who gave up before a draw gave them a position.
local function gone_from_pools(keys) return keys.entered .. ':pools' end

local function chunk_of(place) return math.floor(place / CHUNK_PLACES) end

-- The key of a chunk of the bitmap whose keys begin with `prefix`.
local function chunk_key(prefix, chunk) return string.format('%s:%d', prefix, chunk) end

local function get_bit(prefix, place)
  return redis.call('GETBIT', chunk_key(prefix, chunk_of(place)), place % CHUNK_PLACES) == 1
end

-- Of more bytes than these, bits are read one by one.
local NEAR_BYTES = 1024

-- Which of these places have their bit set: place -> whether.
local function get_bits(prefix, places)
  local lowest, highest = math.huge, 0
  for _, place in ipairs(places) do
    lowest, highest = math.min(lowest, place), math.max(highest, place)
  end
  local is_set, chunk = {}, chunk_of(lowest)
  local first, last = math.floor(lowest % CHUNK_PLACES / 8), math.floor(highest % CHUNK_PLACES / 8)
  if chunk_of(highest) ~= chunk or last - first >= NEAR_BYTES then
    for _, place in ipairs(places) do is_set[place] = get_bit(prefix, place) end
    return is_set
  end
  local bytes = redis.call('GETRANGE', chunk_key(prefix, chunk), first, last)
  for _, place in ipairs(places) do
    local bit = place % CHUNK_PLACES
    local byte = string.byte(bytes, math.floor(bit / 8) - first + 1) or 0
    is_set[place] = math.floor(byte / 2 ^ (7 - bit % 8)) % 2 == 1
  end
  return is_set
end

local function set_bit(prefix, place, bit)
  local key = chunk_key(prefix, chunk_of(place))
  PARTS.note_written(key)
  redis.call('SETBIT', key, place % CHUNK_PLACES, bit)
end

-- Calls `each` with the chunk, and with the first and the last bit in it, of the places first..last.
local function for_chunks(first, last, each)
  for chunk = chunk_of(first), first <= last and chunk_of(last) or -1 do
    local begins = chunk * CHUNK_PLACES
    each(chunk, math.max(first - begins, 0), math.min(last - begins, CHUNK_PLACES - 1))
  end
end

-- How many bits are set of the places first..last.
local function count_bits(prefix, first, last)
  local count = 0
  for_chunks(first, last, function(chunk, from, to)
    count = count + redis.call('BITCOUNT', chunk_key(prefix, chunk), from, to, 'BIT')
  end)
  return count
end

-- Sets all bits from `from` to `to` of one key: whole bytes at once.
local fill_key
do
  -- A byte with its bits `first` to `last` set, 0 the highest.
  local function filled(byte, first, last)
    local unit, values = 2 ^ (7 - last), 2 ^ (last - first + 1)
    return byte + (values - 1 - math.floor(byte / unit) % values) * unit
  end

  -- Of one key, the byte there, with these bits set.
  local function filled_at(key, at, first, last)
    return string.char(filled(string.byte(redis.call('GETRANGE', key, at, at)) or 0, first, last))
  end

  fill_key = function(key, from, to)
    if from > to then return end
    local first, last = math.floor(from / 8), math.floor(to / 8)
    if first == last then
      redis.call('SETRANGE', key, first, filled_at(key, first, from % 8, to % 8))
    else
      local between = string.rep('\255', last - first - 1)
      redis.call('SETRANGE', key, first,
        filled_at(key, first, from % 8, 7) .. between .. filled_at(key, last, 0, to % 8))
    end
  end
end

-- Sets the bits of the places first..last.
local function fill_bits(prefix, first, last)
  for_chunks(first, last, function(chunk, from, to) fill_key(chunk_key(prefix, chunk), from, to) end)
end
