// The same as calls.py, with aws4fetch: as the original's control panel signs in a browser.
import { AwsClient } from 'aws4fetch';

const [, url, accessKeyId, secretAccessKey, sessionToken, body] = process.argv.slice(2);
const client = new AwsClient({
  accessKeyId,
  secretAccessKey,
  sessionToken: sessionToken || undefined,
  service: 'execute-api',
  region: 'us-east-1',
});
const answer = await client.fetch(url, body ? { method: 'POST', body } : {});
console.log(JSON.stringify({ status: answer.status, body: await answer.json() }));
