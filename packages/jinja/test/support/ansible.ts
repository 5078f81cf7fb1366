import type { Case, Result } from './oracle.ts';
import { inPython, pythonHas } from './python.ts';

// A plain environment with the filters and tests of Ansible over those of Jinja2. Early versions had filters that are
// tests now. Ansible keeps files in its home: one of its own.
const environment = (names: readonly string[]): string => `
import atexit, os, shutil, tempfile
home = tempfile.mkdtemp()
atexit.register(shutil.rmtree, home, True)
os.environ.update(ANSIBLE_HOME=home, ANSIBLE_LOCALHOST_WARNING='False', ANSIBLE_DEPRECATION_WARNINGS='False')
from jinja2 import Environment
from ansible.plugins.loader import filter_loader, test_loader
environment = Environment()
for name in ['match', 'search', 'regex', 'version', 'version_compare']:
    for full in [name, 'ansible.builtin.' + name]:
        environment.tests[full] = test_loader.get(name).j2_function
for name in ${JSON.stringify(names)}:
    found = next(filter(None, (filter_loader.get(within + name) for within in ['', 'ansible.utils.', 'community.general.'])), None)
    found = found or test_loader.get(name)
    assert found, name
    environment.filters[name] = found.j2_function
`;

/** A suite that asks the real Ansible. Skipped where it is not installed; in CI that fails. */
export const describeWithAnsible = (title: string, suite: () => void): void => {
  if (process.env['CI'] !== 'true' && !pythonHas('ansible, ansible_collections.ansible.utils, jmespath, netaddr'))
    describe(title, () => {
      it(
        'is not tested here: needs Ansible for /usr/bin/python3 or TEST_PYTHON (apt-get install ansible python3-jmespath python3-netaddr)',
      );
    });
  else describe(title, suite);
};

/** What templates give with these filters of the real Ansible. */
export const ansible = (names: readonly string[], cases: readonly Case[]): Result[] =>
  inPython(environment(names), cases);
