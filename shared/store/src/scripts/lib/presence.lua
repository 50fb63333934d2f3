-- Presence: one bit per place that has checked in, in bands and generations: see `presence` in the domain
-- crate. Bits are cleared by expiry alone. A place that is over does not count, whatever its bit says.
-- Keys: there:<line or pool>:<band>:<generation>:<chunk>. Needs lib/bitmaps.

local SHORTEST_BAND_MS, BANDS, GENERATIONS = 64000, 5, 3
-- The order of arrival, or the drawn one. Who waits for a draw is counted by number, under its index.
local LINE = 'line'

local function pool_name(draw) return string.format('pool%d', draw) end

-- How long a generation is under way, ms.
local function generation_ms(band) return SHORTEST_BAND_MS / 2 * 2 ^ band end

local function there_key(keys, line, band, generation, chunk)
  return string.format('%s:%s:%d:%d:%d', keys.there, line, band, generation, chunk)
end

-- The key of the bits that are set now. Its string has its full length at once, because one that grows
-- bit by bit takes up to twice its memory. `length`: that of the line.
local function key_to_set(keys, line, band, chunk, now, length)
  local generation = math.floor(now / generation_ms(band))
  local key = there_key(keys, line, band, generation, chunk)
  if redis.call('EXISTS', key) == 0 then
    local last = math.min(length - chunk * CHUNK_PLACES, CHUNK_PLACES - 1)
    redis.call('SETBIT', key, last, 0)
    -- Keys expire by the server's clock, which the room's time does not follow where it jumps.
    redis.call('PEXPIRE', key, (generation + GENERATIONS) * generation_ms(band) - now)
  end
  return key
end

-- The keys of all bits that count now.
local function live_keys(keys, line, chunk, now)
  local live = {}
  for band = 0, BANDS - 1 do
    local generation = math.floor(now / generation_ms(band))
    for g = generation - GENERATIONS + 1, generation do
      live[#live + 1] = there_key(keys, line, band, g, chunk)
    end
  end
  return live
end

-- Whether the visitor of a place is there who was told no interval.
local function is_there(keys, line, place, now)
  local generation = math.floor(now / generation_ms(0))
  for g = generation - GENERATIONS + 1, generation do
    local key = there_key(keys, line, 0, g, chunk_of(place))
    if redis.call('GETBIT', key, place % CHUNK_PLACES) == 1 then return true end
  end
  return false
end

-- Counts the newcomers first..last as there until their first check-in.
local function count_newcomers(keys, line, first, last, now)
  for_chunks(first, last, function(chunk, from, to)
    fill_key(key_to_set(keys, line, 0, chunk, now, last), from, to)
  end)
end

-- Removes all that is kept by place: see also lib/bitmaps. `line`: nil, if it was lost.
local function drop_places(keys, line, now)
  local last, draws = line and chunk_of(line.queue_counter), line and line.draw_count or 0
  local chunk, missed = 0, 0
  -- Of a line that was lost nobody knows how many chunks it had; numbers that were left out may have filled some.
  while last and chunk <= last or not last and missed < 16 do
    local found = redis.call('UNLINK', chunk_key(keys.entered, chunk), chunk_key(gone_from_pools(keys), chunk),
      chunk_key(keys.unattended, chunk), unpack(live_keys(keys, LINE, chunk, now)))
    for draw = 0, draws do
      redis.call('UNLINK', unpack(live_keys(keys, pool_name(draw), chunk, now)))
    end
    chunk, missed = chunk + 1, found > 0 and 0 or missed + 1
  end
end
