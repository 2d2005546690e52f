#!/usr/bin/env node
// Copies the programs of Cardea from npm's folder, which changes with every version, into
// one that stays, and runs cardea there. Hooks name the program in the folder that stays.
'use strict';
const { createHash, randomBytes } = require('node:crypto');
const { spawn } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');

// What goes wrong here blocks the call, if a hook starts this file.
const exitFailed = 2;
// The digests of the programs by platform: the packages with the programs are not trusted.
const { name, version, digests } = require('../package.json');
const windows = process.platform === 'win32';
const platform = `${process.platform}-${process.arch}`;

class Failure extends Error {}

function folder() {
  const home = os.homedir();
  let data = windows ? process.env.LOCALAPPDATA : process.env.XDG_DATA_HOME;
  if (!data || !path.isAbsolute(data)) data = path.join(home, ...(windows ? ['AppData', 'Local'] : ['.local', 'share']));
  if (!path.isAbsolute(data)) throw new Failure('the home folder is unknown');
  const dir = path.join(data, 'cardea', 'bin');
  fs.mkdirSync(dir, { recursive: true, mode: 0o755 });
  return fs.realpathSync(dir);
}

// refuseShared refuses a folder in which another user could replace the programs.
function refuseShared(dir) {
  if (windows) return;
  for (let d = dir, own = 2; ; d = path.dirname(d), own--) {
    const { uid, mode } = fs.lstatSync(d);
    // The two folders that are made here are for one user. Those above may have a group.
    const others = own > 0 ? 0o022 : mode & 0o1000 ? 0 : 0o002;
    if (mode & others || (uid !== 0 && uid !== process.getuid())) throw new Failure(`other users can write ${d}`);
    if (d === path.dirname(d)) return;
  }
}

const digest = (data) => createHash('sha256').update(data).digest('hex');

function read(file) {
  try {
    return fs.lstatSync(file).isFile() ? fs.readFileSync(file) : null;
  } catch (e) {
    if (e.code === 'ENOENT') return null;
    throw e;
  }
}

function source() {
  const pkg = `${name}-${platform}`;
  try {
    return path.join(path.dirname(require.resolve(`${pkg}/package.json`)), 'bin');
  } catch {
    throw new Failure(`the package ${pkg} is missing; install ${name} without --omit=optional`);
  }
}

// replace puts a file in the place of another, at once.
function replace(from, to) {
  try {
    fs.renameSync(from, to);
  } catch (e) {
    if (!windows) throw e;
    // A program that runs can be renamed, but not replaced.
    fs.renameSync(to, `${to}.${randomBytes(6).toString('hex')}.old`);
    fs.renameSync(from, to);
  }
}

// install makes the folder have the programs of this version, and returns the path of cardea.
function install() {
  const wanted = Object.hasOwn(digests, platform) ? digests[platform] : null;
  if (!wanted) throw new Failure(`there is no program for ${platform}`);
  const dir = folder();
  refuseShared(dir);
  const have = (file) => {
    const data = read(path.join(dir, file));
    return data !== null && digest(data) === wanted[file];
  };
  // cardea comes last: it is what is started.
  const missing = Object.keys(wanted).filter((f) => !have(f));
  if (missing.length > 0) {
    const from = source();
    const work = fs.mkdtempSync(path.join(dir, '.new-'));
    try {
      for (const file of missing) {
        const data = read(path.join(from, file));
        if (data === null || digest(data) !== wanted[file]) throw new Failure(`${path.join(from, file)} is not the program of version ${version}`);
        fs.writeFileSync(path.join(work, file), data, { mode: 0o755, flag: 'wx' });
        fs.chmodSync(path.join(work, file), 0o755);
      }
      for (const file of missing) replace(path.join(work, file), path.join(dir, file));
      fs.writeFileSync(path.join(work, 'installed-by'), 'npm\n', { mode: 0o644, flag: 'wx' });
      replace(path.join(work, 'installed-by'), path.join(dir, 'installed-by')); // for "cardea update"
    } finally {
      fs.rmSync(work, { recursive: true, force: true });
    }
    if (windows) {
      for (const f of fs.readdirSync(dir)) {
        if (f.endsWith('.old')) try { fs.unlinkSync(path.join(dir, f)); } catch {} // it still runs
      }
    }
    process.stderr.write(`cardea: the programs of version ${version} are now in ${dir}\n`);
  }
  return path.join(dir, windows ? 'cardea.exe' : 'cardea');
}

function main() {
  const child = spawn(install(), process.argv.slice(2), { stdio: 'inherit', windowsHide: true });
  for (const s of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(s, () => child.kill(s));
  child.on('error', failed);
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}

function failed(e) {
  const text = e instanceof Failure || e.code ? e.message : e.stack;
  // eslint-disable-next-line no-control-regex
  process.stderr.write(`cardea: ${text.replace(/[\x00-\x09\x0b-\x1f\x7f-\x9f]/g, '?')}\n`);
  process.exit(exitFailed);
}

try {
  main();
} catch (e) {
  failed(e);
}
