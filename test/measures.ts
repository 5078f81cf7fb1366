import { readFileSync, writeFileSync } from 'node:fs';
import { countFlows } from './flows.ts';
import { faultsOf, measured, withFigures } from './support/measured.ts';

/*
 * `npm run measures [folder]` prints the figures of the TypeScript files of a folder, `src` unless another is given.
 * With `--check` it fails when docs/architecture.md lacks a folder or has a stale count; `--write` puts the counts right.
 * `flows` prints how many files some requests enter; `flows --names` names them.
 */

const page = 'docs/architecture.md';
const [argument = 'src'] = process.argv.slice(2);
if (argument === 'flows') {
  await countFlows(process.argv.includes('--names'));
  process.exit();
}
const figures = measured(argument.startsWith('--') ? 'src' : argument);
if (argument === '--write') writeFileSync(page, withFigures(readFileSync(page, 'utf8'), figures));
if (argument.startsWith('--')) {
  const faults = faultsOf(readFileSync(page, 'utf8'), figures);
  for (const fault of faults) console.error(fault);
  if (faults.length > 0) process.exitCode = 1;
} else console.log(figures);
