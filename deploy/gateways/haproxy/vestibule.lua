-- Asks Vestibule about each request, with HAProxy's own HTTP client (2.5 or later; Debian 12 has 2.6).
--
-- Two actions:
--   http-request  lua.vestibule_authorize   lets pass, or answers with the waiting page
--   http-response lua.vestibule_revoke      tells Vestibule that the site ended the session
-- What they are told comes from haproxy.cfg, in variables of the process: see there.

-- Seconds are long here: Vestibule answers in milliseconds, or HAProxy is done with it.
local TIMEOUT_MS = 5000
local RETRY_AFTER = "5"

-- Headers of one connection, of the body that is not sent, or that only we may set.
local NOT_PASSED = {
    ["host"] = true, ["connection"] = true, ["keep-alive"] = true, ["upgrade"] = true,
    ["te"] = true, ["trailer"] = true, ["transfer-encoding"] = true, ["content-length"] = true,
    ["expect"] = true, ["proxy-authorization"] = true, ["proxy-connection"] = true,
    ["sec-websocket-key"] = true, ["sec-websocket-version"] = true,
    ["sec-websocket-extensions"] = true, ["sec-websocket-protocol"] = true,
    ["forwarded"] = true,
}

local function is_passed(name)
    return not NOT_PASSED[name]
        and name:sub(1, 12) ~= "x-forwarded-"
        and name:sub(1, 10) ~= "vestibule-"
end

-- HAProxy counts the values of a header from 0; its client wants them from 1.
local function values_of(header)
    local values, index = {}, 0
    while header[index] do
        values[#values + 1] = header[index]
        index = index + 1
    end
    return values
end

-- What Vestibule is asked: the visitor's headers, and the facts as HAProxy knows them. Names that a
-- visitor may not set were taken away by is_passed.
local function question(txn)
    local headers = {}
    for name, header in pairs(txn.http:req_get_headers()) do
        if is_passed(name) then
            headers[name] = values_of(header)
        end
    end
    local facts = {
        ["host"] = "vestibule_host", ["x-forwarded-method"] = "vestibule_method",
        ["x-forwarded-proto"] = "vestibule_proto", ["x-forwarded-host"] = "vestibule_host",
        ["x-forwarded-uri"] = "vestibule_uri", ["x-forwarded-for"] = "vestibule_client",
    }
    for name, variable in pairs(facts) do
        headers[name] = { txn:get_var("txn." .. variable) or "" }
    end
    return headers
end

-- The answer, and whether Vestibule could be asked: HAProxy's client raises an error about what it cannot send.
local function ask(txn, method, path, headers)
    local client = core.httpclient()
    local sent, answer = pcall(client[method], client, {
        url = "http://" .. txn:get_var("proc.vestibule") .. path,
        -- By a proxy of our own, which gives up sooner: HAProxy's client would ask four times.
        dst = "abns@vestibule-" .. txn:get_var("proc.vestibule"),
        headers = headers,
        timeout = TIMEOUT_MS,
    })
    return sent and answer, sent
end

local function first(answer, name)
    local header = answer.headers and answer.headers[name]
    return header and header[0]
end

local function refuse(txn, status, headers, body)
    local reply = txn:reply({ status = status })
    for _, header in ipairs(headers) do
        reply:add_header(header[1], header[2])
    end
    reply:set_body(body)
    txn:done(reply)
end

-- Closed by default: nobody enters while nobody counts.
local function is_down(txn)
    if txn:get_var("proc.vestibule_fail_open") then
        return
    end
    refuse(txn, 503, {
        { "Content-Type", "text/plain" }, { "Retry-After", RETRY_AFTER },
        { "Cache-Control", "no-store" },
    }, "Please try again in a few seconds.\n")
end

-- The waiting page, as Vestibule made it.
local function show(txn, answer)
    local headers = {}
    for name, header in pairs(answer.headers) do
        if not NOT_PASSED[name] then
            for _, value in ipairs(values_of(header)) do
                headers[#headers + 1] = { name, value }
            end
        end
    end
    local body = txn:get_var("txn.vestibule_method") == "HEAD" and "" or answer.body
    refuse(txn, answer.status, headers, body)
end

-- No decision: Vestibule is down, or cannot read the request (4xx). The latter is the visitor's doing, and no reason
-- to let it pass where everybody passes while Vestibule is down.
local function has_none(txn, answer, sent)
    core.Warning("vestibule gave no decision, but status " .. tostring(answer and answer.status))
    if not sent then
        refuse(txn, 400, { { "Cache-Control", "no-store" } }, "")
    elseif answer and answer.status >= 400 and answer.status < 500 then
        show(txn, answer)
    else
        is_down(txn)
    end
end

local function authorize(txn)
    local answer, sent = ask(txn, "get", "/authorize?refuse=page", question(txn))
    -- Only a decision is an answer. When nobody listens, HAProxy's client makes up a 503 of its own,
    -- after three attempts, one second apart.
    if not answer or not first(answer, "vestibule-decision") then
        return has_none(txn, answer, sent)
    end
    if answer.status ~= 200 then
        return show(txn, answer)
    end
    -- To the site: the token. To the visitor: the cookies (haproxy.cfg adds them to the response).
    local token = first(answer, "vestibule-token")
    if token then
        txn.http:req_set_header("Vestibule-Token", token)
    end
    local cookies = answer.headers["set-cookie"]
    if cookies then
        txn:set_var("txn.vestibule_cookie", cookies[0])
        -- Of what is not there HAProxy makes a "0".
        if cookies[1] then
            txn:set_var("txn.vestibule_second_cookie", cookies[1])
        end
    end
    -- For the end of the session, if the site orders it: the request is gone by then. The ticket by which the visitor
    -- has just entered goes before the one of before.
    local sent = values_of(txn.http:req_get_headers()["cookie"] or {})
    local given = cookies and cookies[0]:match("^[^;]+")
    if given then
        table.insert(sent, 1, given)
    end
    txn:set_var("txn.vestibule_cookies_sent", table.concat(sent, "; "))
end

-- The site has answered "Vestibule-Command: revoke".
local function revoke(txn)
    local response = txn.http:res_get_headers()
    local command = response["vestibule-command"] or response["cf-waiting-room-command"]
    local headers = {
        ["vestibule-command"] = { command[0] },
        ["cookie"] = { txn:get_var("txn.vestibule_cookies_sent") or "" },
        ["content-length"] = { "0" },
    }
    for _, name in ipairs({ "method", "proto", "host", "uri" }) do
        headers["x-forwarded-" .. name] = { txn:get_var("txn.vestibule_" .. name) or "" }
    end
    headers["x-forwarded-for"] = { txn:get_var("txn.vestibule_client") or "" }
    headers["host"] = headers["x-forwarded-host"]
    local answer = ask(txn, "post", "/revoke", headers)
    local cookies = answer and answer.headers and answer.headers["set-cookie"]
    if not cookies then
        -- No session has ended.
        return
    end
    -- A cookie that was given with this request is that of the session that has ended.
    txn:unset_var("txn.vestibule_cookie")
    txn:unset_var("txn.vestibule_second_cookie")
    for _, cookie in ipairs(values_of(cookies)) do
        txn.http:res_add_header("Set-Cookie", cookie)
    end
    -- Nobody else's ticket is taken back by what a cache has kept.
    txn.http:res_set_header("Cache-Control", "private, no-store")
end

core.register_action("vestibule_authorize", { "http-req" }, authorize)
core.register_action("vestibule_revoke", { "http-res" }, revoke)
