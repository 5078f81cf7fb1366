import 'tsx/esm';

// So mocha imports test files. If it required them, whatever is imported when it is needed would be there a second time.
Object.defineProperty(process.features, 'require_module', { value: false });
