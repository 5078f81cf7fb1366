import { appendFileSync } from 'node:fs';
const out = process.env.TEST_TIMES!;
let at = process.cpuUsage(), t0 = performance.now();
appendFileSync(out, `start\t${process.pid}\t${performance.now().toFixed(0)}\n`);
export const mochaHooks = {
  beforeEach(this: any) { const c = process.cpuUsage(at); appendFileSync(out, `before\t${this.currentTest?.file}\t${((c.user + c.system) / 1000).toFixed(0)}\t${(performance.now() - t0).toFixed(0)}\t${process.pid}\n`); at = process.cpuUsage(); t0 = performance.now(); },
  afterEach(this: any) { const c = process.cpuUsage(at); appendFileSync(out, `test\t${this.currentTest?.file}\t${((c.user + c.system) / 1000).toFixed(0)}\t${(performance.now() - t0).toFixed(0)}\t${process.pid}\t${this.currentTest?.fullTitle()}\n`); at = process.cpuUsage(); t0 = performance.now(); },
};
