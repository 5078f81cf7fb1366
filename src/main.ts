#!/usr/bin/env node
import './process/soundJson.ts';
import { runCommand } from './cli/engine/runCommand.ts';
import { commands } from './cli/table.ts';
import { settingsHelp } from './config.ts';
import { fail, outputFailed } from './process/program.ts';
import { version } from './version.ts';

const about = {
  version,
  description: 'HTTP API of a network automation and orchestration platform',
  footer: `\nSettings, from the environment, all optional:\n${settingsHelp()}`,
};

process.stdout.on('error', outputFailed);
void runCommand(commands, about, process.argv.slice(2))
  .catch(fail)
  .then((code) => {
    process.exitCode = code;
  });
