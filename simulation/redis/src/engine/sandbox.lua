-- What scripts see. Runs once in a fresh Lua, which it empties: scripts' globals are a table that
-- nobody can write to, over `visible`.
local host, functions = ...
local G = _G
local error, type, tostring, pairs, select = error, type, tostring, pairs, select
local setmetatable, xpcall, floor = setmetatable, xpcall, math.floor
local plain, line = host.plain, host.line

local function readonly() error('Attempt to modify a readonly table', 2) end

-- A library that scripts cannot change.
local function sealed(library)
  return setmetatable({}, { __index = library, __newindex = readonly, __metatable = false })
end

local visible = { _G = G, _VERSION = _VERSION }
for _, name in pairs({
  'assert', 'error', 'gcinfo', 'getmetatable', 'ipairs', 'load', 'loadstring', 'next', 'pairs',
  'rawequal', 'rawget', 'rawset', 'select', 'setmetatable', 'tonumber', 'tostring', 'type', 'unpack',
}) do
  visible[name] = G[name]
end
-- Memory is no business of a deterministic script.
visible.collectgarbage = function() return 0 end

-- A failed command is a text to who catches it.
local raw_pcall = pcall
local function settle(ok, e, ...)
  if ok then return ok, e, ... end
  e = plain(e)
  if type(e) == 'table' and type(e.err) == 'string' then e = e.err end
  return false, e
end
visible.pcall = function(...) return settle(raw_pcall(...)) end
visible.xpcall = function(f, handler)
  return xpcall(f, function(e) return handler(plain(e)) end)
end

local co = {}
for name, value in pairs(coroutine) do co[name] = value end
local resume = co.resume
co.resume = function(...) return settle(resume(...)) end
visible.coroutine = sealed(co)

local maths = {}
for name, value in pairs(math) do maths[name] = value end
maths.random = function(low, high)
  local r = host.random()
  if low == nil then return r end
  if high == nil then low, high = 1, low end
  if low > high then error("bad argument #1 to 'random' (interval is empty)", 2) end
  return floor(r * (high - low + 1)) + low
end
maths.randomseed = host.randomseed
visible.math = sealed(maths)
visible.string = sealed(string)
visible.table = sealed(table)
visible.cjson = sealed(host.cjson)
visible.bit = sealed(host.bit)

local function wrong(message) error({ err = 'ERR ' .. message }) end
local function trimmed(text) return (text:gsub('^[\r\n]+', ''):gsub('[\r\n]+$', '')) end

local redis = {
  call = host.call, pcall = host.pcall,
  LOG_DEBUG = 0, LOG_VERBOSE = 1, LOG_NOTICE = 2, LOG_WARNING = 3,
  REPL_NONE = 0, REPL_AOF = 1, REPL_SLAVE = 2, REPL_REPLICA = 2, REPL_ALL = 3,
  REDIS_VERSION = '7.0.15', REDIS_VERSION_NUM = 0x0007000f,
}
function redis.error_reply(...)
  local text = ...
  if select('#', ...) ~= 1 or type(text) ~= 'string' then
    return { err = 'ERR wrong number or type of arguments' }
  end
  text = text:gsub('^%-', '')
  local code, message = text:match('^([^ ]*) (.*)$')
  return { err = (code or 'ERR') .. ' ' .. trimmed(message or text) }
end
function redis.status_reply(...)
  local text = ...
  if select('#', ...) ~= 1 or type(text) ~= 'string' then
    return { err = 'ERR wrong number or type of arguments' }
  end
  return { ok = text }
end
function redis.sha1hex(...)
  if select('#', ...) ~= 1 then wrong('wrong number of arguments') end
  return host.sha1hex((...))
end
function redis.log(...)
  local level = ...
  if select('#', ...) < 2 then wrong('redis.log() requires two arguments or more.') end
  if type(level) ~= 'number' then wrong('First argument must be a number (log level).') end
  if level < 0 or level > 3 then wrong('Invalid log level.') end
end
function redis.setresp(version)
  if version ~= 2 then wrong('RESP version must be 2 here.') end
end
function redis.replicate_commands() return true end
function redis.set_repl() end
function redis.breakpoint() return false end
function redis.debug() end
visible.redis = sealed(redis)

local names = {}
for name in pairs(G) do names[#names + 1] = name end
for _, name in pairs(names) do G[name] = nil end
setmetatable(visible, {
  __index = function(_, name)
    error("Script attempted to access nonexistent global variable '" .. tostring(name) .. "'", 2)
  end,
})
setmetatable(G, { __index = visible, __newindex = readonly, __metatable = false })

-- Makes a table of what was raised, with the line of the script.
local function handler(e)
  e = plain(e)
  if type(e) ~= 'table' then e = { err = 'ERR ' .. tostring(e) } end
  e.line = line()
  return e
end

-- Runs one of the functions: returns whether it succeeded, and what it returned or raised.
return function(place, keys, args)
  visible.KEYS, visible.ARGV = keys, args
  return xpcall(functions[place], handler)
end
