// Checks an AsyncAPI document: asyncapi-check.cjs FOLDER-OF-THE-PARSER DOCUMENT
const { readFileSync } = require('node:fs');
const { createRequire } = require('node:module');
const { resolve } = require('node:path');

const [tools, path] = process.argv.slice(2);
const { Parser } = createRequire(resolve(tools, 'package.json'))('@asyncapi/parser');

const errorSeverity = 0;
const severities = ['error', 'warning', 'info', 'hint'];

async function check() {
  const { document, diagnostics } = await new Parser().parse(readFileSync(path, 'utf8'), { source: path });
  for (const d of diagnostics) {
    console.log(`${path}:${d.range.start.line + 1}: ${severities[d.severity]}: ${d.message} (${d.path.join('.')})`);
  }
  if (!document || diagnostics.some((d) => d.severity === errorSeverity)) {
    throw new Error(`${path} is not a valid AsyncAPI document`);
  }
  console.log(`${path}: valid AsyncAPI ${document.version()}`);
}

check().catch((error) => {
  console.error(error.message);
  process.exitCode = 1;
});
