import { setFlagsFromString } from 'node:v8';
import 'tsx/esm';

// So mocha imports test files. If it required them, whatever is imported when it is needed would be there a second time.
Object.defineProperty(process.features, 'require_module', { value: false });

// Most functions run a few times in tests: V8 optimizes them later than usual. Its newer versions have no such flag.
if (process.version.startsWith('v20.')) setFlagsFromString('--interrupt-budget=400000');
