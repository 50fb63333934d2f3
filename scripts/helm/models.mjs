// Holds custom objects, a JSON list of [name, object] on the input, against their models; prints a line
// for each that is not as it must be. The argument is the folder with the models.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const packages = {
  "external-secrets.io": "external-secrets",
  "gateway.networking.k8s.io": "gateway-api",
  "monitoring.coreos.com": "prometheus-operator",
};
const models = `${process.argv[2]}/node_modules/@kubernetes-models`;

for (const [name, object] of JSON.parse(readFileSync(0, "utf8"))) {
  const group = packages[object.apiVersion.split("/")[0]];
  const file = `${models}/${group}/${object.apiVersion}/${object.kind}.js`;
  const Model = (await import(pathToFileURL(file)))[object.kind];
  try {
    new Model(object).validate();
  } catch (error) {
    console.log(`${name}: ${error.message}`);
  }
}
