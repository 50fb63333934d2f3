--[[ export_seats: some of a room's sessions, or of its AWS-style tokens, and the records of these, for a backup.

KEYS  line sessions tokens records
ARGV  now_ms seen document
Returns cursor seats
      cursor: where to go on; 0: these were the last. seats: of each its number, its score, and its record (empty: a
      session without one, which is a held seat). A seat that is there from the first call to the last is among them,
      perhaps twice.
Keeps (2) each is read together with its record, so no token outlives its session in the copy.
]]
local args = arguments({
  -- Which: `sessions` or `tokens`.
  of = 'text',
  cursor = 'text',
  -- About how many.
  count = 'integer',
})
local page = redis.call('ZSCAN', keys[args.of], args.cursor, 'COUNT', args.count)
local numbers, seats = {}, {}
for i = 1, #page[2], 2 do numbers[#numbers + 1] = page[2][i] end
local records = #numbers > 0 and redis.call('HMGET', keys.records, unpack(numbers)) or {}
for i, number in ipairs(numbers) do
  for _, text in ipairs({ number, page[2][2 * i], records[i] or '' }) do seats[#seats + 1] = text end
end
return seal({ page[1], seats })
