import type { ServerChannel } from 'ssh2';

/** A device of a type, as its sessions show it. What it writes and reads was written down from public knowledge. */
export type Recorded = {
  readonly type: string;
  readonly name: string;
  /** Its prompts of the two modes, with {name}. */
  readonly exec: string;
  readonly config: string;
  /** The prompt of somebody without the rights to configure, where a password gives them. */
  readonly user?: string;
  /** Lines above each prompt of the mode of configurations. */
  readonly above?: string;
  readonly banner: string;
  /** Questions before its first prompt, and the answers that it takes. */
  readonly asks?: readonly (readonly [question: string, answer: string])[];
  readonly enter: readonly string[];
  /** Words of the device as the mode is entered. */
  readonly entered?: string;
  readonly exit: readonly string[];
  readonly commit?: string;
  readonly committed?: string;
  readonly commitRefused?: string;
  readonly discard?: readonly string[];
  readonly confirmed?: string;
  readonly confirming?: string;
  /** Confirms a commit. */
  readonly confirm?: string;
  /** Shows what the candidate changes. */
  readonly compare?: string;
  /** Its commit check, and the words of success. */
  readonly check?: readonly [command: string, says: string];
  /** Makes the candidate empty. */
  readonly clean?: string;
  /** Saves, where there is no commit. */
  readonly save: string;
  readonly show?: string;
  /** Lines that it takes. */
  readonly lines: readonly [string, string, string];
  /** How it shows lines. */
  readonly shows: (lines: readonly string[]) => string;
  readonly refuses: string;
  /** Text at the end of a page. */
  readonly pager: string;
  /** How it shows what was typed. */
  readonly echo?: (prompt: string, line: string) => string;
};

const indented = (lines: readonly string[]): string => `!\n${lines.join('\n')}\n!\nend`;
const asTheyAre = (lines: readonly string[]): string => lines.join('\n');
const invalid = "              ^\n% Invalid input detected at '^' marker.";
const cisco = {
  exec: '{name}#',
  config: '{name}(config)#',
  user: '{name}>',
  enter: ['configure terminal'],
  entered: 'Enter configuration commands, one per line.  End with CNTL/Z.',
  exit: ['end'],
  save: 'copy running-config startup-config',
  show: 'show running-config',
  lines: ['interface Loopback7', ' description a scene', 'ntp server 192.0.2.7'],
  shows: indented,
  refuses: invalid,
  pager: ' --More-- ',
} as const;

export const recordedDevices: readonly Recorded[] = [
  {
    ...cisco,
    type: 'cisco-ios',
    name: 'core-1',
    banner: '*** Authorized access only #\n*** core-1# is watched',
    shows: (lines) => `Building configuration...\n\nCurrent configuration : 812 bytes\n${indented(lines)}`,
  },
  {
    ...cisco,
    type: 'cisco-ios-xr',
    name: 'RP/0/RP0/CPU0:pe-1',
    banner: '',
    entered: 'Thu Nov 26 12:00:00.123 UTC',
    commit: 'commit',
    committed: 'Thu Nov 26 12:00:01.456 UTC',
    commitRefused:
      "% Failed to commit one or more configuration items during a pseudo-atomic operation. All changes made have been reverted. Please issue 'show configuration failed [inheritance]' from this session to view the errors",
    discard: ['abort'],
    confirmed: 'commit confirmed minutes 1',
    compare: 'show commit changes diff',
    shows: (lines) =>
      `Thu Nov 26 12:00:02.789 UTC\nBuilding configuration...\n!! IOS XR Configuration 7.9.1\n${indented(lines)}`,
  },
  {
    ...cisco,
    type: 'cisco-nx',
    name: 'leaf-1',
    banner: 'Cisco Nexus Operating System (NX-OS) Software',
    refuses: "                      ^\n% Invalid command at '^' marker.",
    echo: (_, line) => `${line}\r\r\n`,
  },
  {
    ...cisco,
    type: 'cisco-asa',
    name: 'fw-1',
    banner: "Type help or '?' for a list of available commands.",
    config: '{name}/act(config)#',
    exec: '{name}/act#',
    user: '{name}/act>',
    entered: '',
    save: 'write memory',
    refuses: "ERROR: % Invalid input detected at '^' marker.",
    pager: '<--- More --->',
    shows: (lines) => `: Saved\n:\n${indented(lines)}`,
  },
  {
    type: 'cisco-wlc',
    name: 'Cisco Controller',
    exec: '({name}) >',
    config: '({name}) config>',
    banner: '(Cisco Controller)',
    asks: [
      ['User: ', 'ops'],
      ['Password:', 'secret'],
    ],
    enter: ['config'],
    exit: ['exit'],
    save: 'save config',
    show: 'show run-config commands',
    lines: ['sysname-scene one', 'logging syslog host 192.0.2.7', 'time ntp server 1 192.0.2.8'],
    shows: (lines) => lines.map((line) => ` ${line}`).join('\n'),
    refuses: "Incorrect usage.  Use the '?' or <TAB> key to list commands.",
    pager: '--More-- or (q)uit',
  },
  {
    ...cisco,
    type: 'arista-eos',
    name: 'sw1',
    banner: 'Last login: Thu Nov 26 12:00:00 2026 from 192.0.2.99',
    enter: ['configure session'],
    entered: '',
    config: '{name}(config-s-sess-1)#',
    exit: [],
    commit: 'commit',
    commitRefused: '% Commit failed: session validation found errors',
    discard: ['abort'],
    confirmed: 'commit timer 00:01:00',
    compare: 'show session-config diffs',
    clean: 'rollback clean-config',
    refuses: '% Invalid input',
  },
  {
    type: 'juniper-junos',
    name: 'admin@r1',
    exec: '{name}> ',
    config: '{name}# ',
    above: '\n[edit]',
    banner: '--- JUNOS 22.4R1 Kernel 64-bit',
    enter: ['configure'],
    entered: 'Entering configuration mode',
    exit: ['exit configuration-mode'],
    commit: 'commit',
    committed: 'commit complete',
    commitRefused:
      "[edit interfaces ge-0/0/0]\n  'unit 0'\n    error: no address\nerror: commit failed: (statements constraint check failed)",
    discard: ['rollback 0', 'exit configuration-mode'],
    confirmed: 'commit confirmed 1',
    confirming: 'commit confirmed will be automatically rolled back in 1 minutes unless confirmed\ncommit complete',
    compare: 'show | compare',
    check: ['commit check', 'configuration check succeeds'],
    save: '',
    show: 'show configuration',
    lines: ['set snmp contact ops', 'set system location building b1', 'set system services ssh'],
    shows: (lines) =>
      lines
        .map((line) => line.split(' ').slice(1))
        .map(([first, ...rest]) => `${first} {\n    ${rest.join(' ')};\n}`)
        .join('\n'),
    refuses: '                          ^\nsyntax error.',
    pager: '---(more)---',
  },
  {
    type: 'paloalto-panos',
    name: 'admin@PA-VM',
    exec: '{name}(active)> ',
    config: '{name}(active)# ',
    above: '[edit]',
    banner: 'Number of failed attempts since last successful login: 0',
    enter: ['configure'],
    entered: 'Entering configuration mode',
    exit: ['exit'],
    commit: 'commit',
    committed:
      'Commit job 14 is in progress. Use Ctrl+C to return to command prompt\n...55%...75%.....99%...........100%\nConfiguration committed successfully',
    commitRefused:
      'Commit job 15 is in progress. Use Ctrl+C to return to command prompt\n...55%98%...100%\nValidation Error:\n rulebase -> security -> rules -> x is invalid\nCommit failed',
    discard: ['revert config', 'exit'],
    compare: 'show config diff',
    check: [
      'validate full',
      'Validate job 16 is in progress. Use Ctrl+C to return to command prompt\n..100%\nConfiguration is valid',
    ],
    save: '',
    show: 'show',
    lines: [
      'set deviceconfig system timezone UTC',
      'set address web ip-netmask 192.0.2.7',
      'set tag scene color color1',
    ],
    shows: asTheyAre,
    refuses: 'Invalid syntax.',
    pager: 'lines 1-50 --more--',
  },
  {
    type: 'fortinet-fortios',
    name: 'FGT60',
    exec: '{name} # ',
    config: '{name} # ',
    banner: 'This is a private network.',
    asks: [["(Press 'a' to accept):", 'a']],
    enter: [],
    exit: ['abort', 'end'],
    save: 'execute cfg save',
    show: 'show',
    lines: ['config system ntp', '    set ntpsync enable', '    set syncinterval 60'],
    shows: (lines) => `${lines.join('\n')}\nend`,
    refuses: "command parse error before 'mistake'\nCommand fail. Return code -61",
    pager: '--More-- ',
  },
  {
    type: 'mikrotik-routeros',
    name: 'MikroTik',
    exec: '[admin@{name}] > ',
    config: '[admin@{name}] > ',
    banner: '  MikroTik RouterOS 7.14 (c) 1999-2024       https://www.mikrotik.com/',
    asks: [['Do you want to see the software license? [Y/n]: ', 'n']],
    enter: [],
    exit: [],
    save: '/system backup save',
    show: '/export terse',
    lines: [
      '/interface bridge add name=scene',
      '/ip address add address=192.0.2.7/24 interface=scene',
      '/ip route add gateway=192.0.2.8',
    ],
    shows: (lines) => `# by RouterOS 7.14\n${lines.join('\n').replaceAll(' add ', '\nadd disabled=no ')}`,
    refuses: 'bad command name mistake (line 1 column 1)',
    pager: '-- [Q quit|D dump|down]',
    echo: (prompt, line) => `\u001b[9999D\r${prompt}${line}\u001b[K\r\n`,
  },
  {
    type: 'nokia-sros',
    name: 'A:admin@pe-2',
    exec: '{name}# ',
    config: '*{name}# ',
    above: '\n*(ex)[/]',
    banner: ' SR OS Software',
    enter: ['edit-config exclusive'],
    entered:
      'INFO: CLI #2060: Entering exclusive configuration mode\nINFO: CLI #2061: Uncommitted changes are discarded on configuration mode exit',
    exit: ['quit-config'],
    commit: 'commit',
    commitRefused: 'MINOR: MGMT_CORE #236: configure port 1/1/1 - Missing mandatory fields',
    discard: ['exit all', 'discard', 'quit-config'],
    confirmed: 'commit confirmed 1',
    confirm: 'commit confirmed accept',
    compare: 'compare',
    check: ['validate', ''],
    save: 'admin save',
    show: 'admin show configuration flat',
    lines: [
      'configure system location scene',
      'configure system contact ops',
      'configure port 1/1/1 admin-state enable',
    ],
    shows: (lines) => lines.map((line) => `/${line}`).join('\n'),
    refuses: "                ^^^^^^^\nMINOR: MGMT_CORE #2201: Unknown element - 'mistake'",
    pager: 'Press any key to continue (Q to quit)',
  },
  {
    type: 'vyos',
    name: 'vyos@vy1',
    exec: '\u001b[?2004h{name}:~$ ',
    config: '{name}# ',
    above: '[edit]',
    banner: 'Welcome to VyOS!',
    enter: ['configure'],
    exit: ['exit', 'exit discard'],
    commit: 'commit',
    commitRefused: '[[interfaces ethernet eth9]] failed\nCommit failed',
    discard: ['exit discard'],
    confirmed: 'commit-confirm 1',
    confirming: 'Initialized commit-confirm; 1 minutes to confirm before reboot',
    confirm: 'confirm',
    compare: 'compare',
    save: '',
    show: 'show configuration commands',
    lines: [
      'set system time-zone UTC',
      'set interfaces ethernet eth0 address 192.0.2.7/24',
      'set service ntp server 192.0.2.8',
    ],
    shows: (lines) => lines.map((line) => line.replace(/(\S+)$/, "'$1'")).join('\n'),
    refuses: '\n  Configuration path: [mistake] is not valid\n  Set failed\n',
    pager: '--More--',
  },
  {
    type: 'huawei-vrp',
    name: 'vrp-1',
    exec: '<{name}>',
    config: '[~{name}]',
    banner: 'Info: The max number of VTY users is 10, and the number of current VTY users on line is 1.',
    asks: [['The password needs to be changed. Change now? [Y/N]:', 'n']],
    enter: ['system-view'],
    entered: 'Enter system view, return user view with Ctrl+Z.',
    exit: ['return'],
    save: 'save',
    show: 'display current-configuration',
    lines: ['interface LoopBack7', ' description a scene', 'ntp-service unicast-server 192.0.2.7'],
    shows: (lines) => `#\n${lines.join('\n')}\n#\nreturn`,
    refuses: "              ^\nError: Unrecognized command found at '^' position.",
    pager: '  ---- More ----',
    echo: (_, line) => `${line} \u001b[1D\r\n`,
  },
  {
    ...cisco,
    type: 'hp-procurve',
    name: 'HP-2920',
    banner: 'HP J9726A 2920-24G Switch',
    exec: '\u001b[24;1H{name}#\u001b[24;12H ',
    config: '\u001b[24;1H{name}(config)#\u001b[24;20H ',
    asks: [['Press any key to continue', '']],
    entered: '',
    save: 'write memory',
    lines: ['vlan 77', '   name "scene"', 'snmp-server contact "ops"'],
    shows: (lines) => `; J9726A Configuration Editor\n\n${lines.join('\n')}\n   exit`,
    refuses: 'Invalid input: mistake',
    pager: '-- MORE --, next page: Space, next line: Enter, quit: Control-C',
  },
  {
    type: 'linux',
    name: 'ops@host',
    exec: '{name}:~$ ',
    config: '{name}:~$ ',
    banner: 'Last login: Thu Nov 26 12:00:00 2026',
    enter: [],
    exit: [],
    save: 'sync-settings',
    lines: ['touch /tmp/one', 'echo something that means nothing', 'true'],
    shows: asTheyAre,
    refuses: 'mistake: command not found',
    pager: '--More--',
  },
];

/** The changes of a device that make a scene. */
export type Scene = {
  /** Prompts are those of somebody without rights, and no password is right. */
  readonly refusesEnable?: true;
  /** Prompts are those of somebody without rights, until this password is given. */
  readonly enabledBy?: string;
  /** Answers a line itself; false where it does not. */
  readonly takes?: (line: string, session: Session) => boolean;
};

/** A session with a device: what it has received, and what it says. */
export type Session = {
  readonly channel: ServerChannel;
  readonly received: string[];
  readonly running: readonly string[];
  prompt(name?: string): string;
  /** Shows what was typed, an answer, and the next prompt. */
  answer(line: string, text: string): void;
  /** The device goes back to what was before the last commit. */
  goBack(): void;
};

/** The lines that a device has received in all sessions, and its running configuration. */
export type Played = { readonly received: string[]; running: readonly string[] };

const crlf = (text: string): string => text.replaceAll('\n', '\r\n');

/** Plays a device over the shell of a session. */
export const play = (device: Recorded, { refusesEnable, enabledBy, takes }: Scene, played: Played) => {
  const { enter, exit, commit, discard = [] } = device;
  return (channel: ServerChannel): void => {
    let mode: 'user' | 'exec' | 'config' = refusesEnable || enabledBy !== undefined ? 'user' : 'exec';
    let candidate: readonly string[] = [];
    let before: readonly string[] = [];
    let isWhole = false;
    let loading: string[] | undefined;
    let failed = false;
    let waits: 'questions' | 'password' | undefined = device.asks ? 'questions' : undefined;
    let asked = 0;

    const prompt = (name = device.name): string => {
      const form = { user: device.user ?? device.exec, exec: device.exec, config: device.config }[mode];
      const above = mode === 'config' && device.above !== undefined ? `${crlf(device.above)}\r\n` : '';
      return above + form.replace('{name}', name);
    };
    const session: Session = {
      channel,
      received: played.received,
      get running() {
        return played.running;
      },
      prompt,
      answer: (line, text) => {
        const echo = device.echo?.(prompt(), line) ?? `${line}\r\n`;
        channel.write(`${echo}${text === '' ? '' : `${crlf(text)}\r\n`}${prompt()}`);
      },
      goBack: () => {
        played.running = before;
      },
    };

    /** The device's words to a line, once its mode has changed. */
    const answerTo = (line: string): string => {
      const isOfMode = enter.length === 0 ? mode === 'exec' : mode === 'config';
      if (device.type === 'linux' && line === 'echo $?') {
        const status = failed ? '127' : '0';
        failed = false;
        return status;
      }
      failed = false;
      if (line === device.show) return device.shows(played.running);
      if (mode === 'config' && line === device.compare) return candidate.map((one) => `+ ${one}`).join('\n');
      if (mode === 'config' && line === device.check?.[0]) return device.check[1];
      if (mode === 'config' && line === device.clean) {
        isWhole = true;
        return '';
      }
      if (line === device.confirm) return '';
      if (mode === 'exec' && /^configure session change-\w+ commit$/.test(line)) return '';
      if ((enter.includes(line) || /^configure session change-\w+$/.test(line)) && mode === 'exec') {
        mode = 'config';
        candidate = [];
        isWhole = false;
        return device.entered ?? '';
      }
      if (line === device.confirmed || line === commit || line === 'commit replace') {
        isWhole ||= line === 'commit replace';
        before = played.running;
        played.running = isWhole ? candidate : [...played.running, ...candidate];
        if (line === commit && exit.length === 0) mode = 'exec';
        if (line === device.confirmed && exit.length === 0) mode = 'exec';
        return line === commit ? (device.committed ?? '') : (device.confirming ?? device.committed ?? '');
      }
      if (discard.includes(line) || exit.includes(line)) {
        candidate = [];
        if (line === discard.at(-1) || exit.includes(line)) mode = 'exec';
        return '';
      }
      if (isOfMode && device.lines.some((one) => one === line)) {
        if (commit === undefined) played.running = [...played.running, line];
        else candidate = [...candidate, line];
        return line.startsWith('echo ') ? line.slice(5) : '';
      }
      if (/^(?:mistake|commit|sync|write|save|copy|execute|\/system backup|admin save)/.test(line)) {
        failed = true;
        return device.refuses;
      }
      return '';
    };

    /** Reads a configuration in braces, two levels deep, up to its end. */
    const load = (line: string): void => {
      if (line !== '\u0004') {
        loading?.push(line.trim());
        channel.write(`${line}\r\n`);
        return;
      }
      candidate = (loading ?? [])
        .join(' ')
        .split('} ')
        .map((block) => `set ${block.replace(/[{};]/g, ' ').trim().replace(/ +/g, ' ')}`);
      isWhole = true;
      loading = undefined;
      channel.write(`load complete\r\n${prompt()}`);
    };

    const hear = (line: string): void => {
      if (loading) {
        load(line);
        return;
      }
      if (mode === 'config' && line === 'load override terminal') {
        loading = [];
        channel.write(`${line}\r\n[Type ^D at a new line to end input]\r\n`);
        return;
      }
      if (waits === 'questions') {
        const [, wanted] = device.asks?.[asked] ?? [];
        if (line !== wanted) return void channel.end();
        asked++;
        const [next] = device.asks?.[asked] ?? [];
        if (next === undefined) waits = undefined;
        channel.write(`${line}\r\n${next ?? prompt()}`);
        return;
      }
      if (waits === 'password') {
        waits = undefined;
        if (line === enabledBy) mode = 'exec';
        channel.write(`\r\n${line === enabledBy ? '' : '% Access denied\r\n'}${prompt()}`);
        return;
      }
      if (line !== '') played.received.push(line);
      if (takes?.(line, session)) return;
      if (mode === 'user' && line === 'enable') {
        waits = 'password';
        channel.write(`${line}\r\nPassword: `);
        return;
      }
      const echo = device.echo?.(prompt(), line) ?? `${line}\r\n`;
      const text = answerTo(line);
      channel.write(`${echo}${text === '' ? '' : `${crlf(text)}\r\n`}${prompt()}`);
    };

    channel.write(`${crlf(device.banner)}\r\n${device.asks?.[0]?.[0] ?? prompt()}`);
    let rest = '';
    channel.on('data', (data: Buffer) => {
      // The end of a text is a line of its own.
      const lines = (rest + String(data).replace('\u0004', '\u0004\n')).split(/\r?\n/);
      rest = lines.pop() ?? '';
      for (const line of lines) hear(line);
    });
  };
};
