-- Numbers that were left out since the reset, because somebody may have been given them. Until somebody with such a
-- number is heard, nobody has it.

-- read(text): those of the field `left_out`, as pairs in order: first, last. add(key, line, pairs, unlisted): leaves these
-- out, too; `unlisted`: how many are skipped that no pair names; nil: as many as before. skip(key, line, known, count):
-- goes on so many numbers above `known`. catch_up(key, line, known): goes on above `known` if it is above the counter.
local LEFT_OUT = {}
do
  -- When the store has lost its last writes, up to this many numbers may have been handed out that no
  -- service has seen: `UNSEEN_NUMBERS` in the domain crate.
  local GAP = 100000
  -- So many pairs are kept: the latest.
  local KEPT = 64

  -- The same numbers as pairs that have none in common; and how many they are.
  local function merged(pairs_of)
    table.sort(pairs_of, function(one, other) return one[1] < other[1] end)
    local all, count = {}, 0
    for _, pair in ipairs(pairs_of) do
      local before, first, last = all[#all], pair[1], pair[2]
      if before and first <= before[2] + 1 then
        count = count + math.max(last - before[2], 0)
        before[2] = math.max(before[2], last)
      else
        count = count + last + 1 - first
        all[#all + 1] = { first, last }
      end
    end
    return all, count
  end

  function LEFT_OUT.read(text)
    local pairs_of = {}
    for first, last in string.gmatch(text or '', '(%d+)-(%d+)') do
      pairs_of[#pairs_of + 1] = { tonumber(first), tonumber(last) }
    end
    return pairs_of
  end

  function LEFT_OUT.add(key, line, more, unlisted)
    local pairs_of, before = merged(LEFT_OUT.read(redis.call('HGET', key, 'left_out')))
    unlisted = unlisted or line.skipped - before
    for _, pair in ipairs(more) do pairs_of[#pairs_of + 1] = { tonumber(pair[1]), tonumber(pair[2]) } end
    local all, count = merged(pairs_of)
    local texts = {}
    for i = math.max(#all - KEPT, 0) + 1, #all do
      texts[#texts + 1] = string.format('%d-%d', all[i][1], all[i][2])
    end
    line.skipped = unlisted + count
    redis.call('HSET', key, 'skipped', line.skipped, 'left_out', table.concat(texts, ' '))
  end

  function LEFT_OUT.skip(key, line, known, count)
    line.queue_counter = known + count
    redis.call('HSET', key, 'queue_counter', line.queue_counter)
    LEFT_OUT.add(key, line, { { known + 1, known + count } })
  end

  -- So far above the counter are only numbers of another side of a split, which had left out those before.
  function LEFT_OUT.catch_up(key, line, known)
    if known <= line.queue_counter then return end
    if known > line.queue_counter + GAP then LEFT_OUT.add(key, line, { { line.queue_counter + 1, known } }) end
    LEFT_OUT.skip(key, line, known, GAP)
  end
end
