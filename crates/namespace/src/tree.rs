//! The tree of directories and files, in memory.

mod form;
mod refused;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::mutation::Mutation;
pub use refused::Refused;

const ROOT: u32 = 0;
/// In place of the number of children: a file.
const FILE: u32 = u32::MAX;

/// What is known of a file or directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Status {
    /// How many names a directory holds; None for a file.
    pub children: Option<u32>,
    /// When it was made or renamed, in milliseconds of Unix time.
    pub modified_ms: u64,
}

/// One file or directory: 32 bytes, and its name beside it.
#[derive(Debug, Default)]
struct Node {
    name: Box<[u8]>,
    modified_ms: u64,
    parent: u32,
    /// Of a directory; [`FILE`] for a file.
    children: u32,
}

impl Node {
    fn status(&self) -> Status {
        Status {
            children: (self.children != FILE).then_some(self.children),
            modified_ms: self.modified_ms,
        }
    }
}

/// Directories and files, found by their parent and name.
///
/// A file takes about 80 bytes: its node, its name, and its place in the index.
#[derive(Debug)]
pub struct Tree {
    nodes: Vec<Node>,
    /// Nodes that were deleted.
    free: Vec<u32>,
    by_name: HashTable<u32>,
}

impl Default for Tree {
    fn default() -> Self {
        Self {
            nodes: vec![Node::default()],
            free: Vec::new(),
            by_name: HashTable::new(),
        }
    }
}

impl Tree {
    /// How many files and directories there are, the root not counted.
    #[must_use]
    pub fn len(&self) -> usize {
        self.by_name.len()
    }

    /// Whether there is nothing but the root.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }

    /// What is known of `path`.
    ///
    /// # Errors
    ///
    /// It is not there, or no path.
    pub fn status(&self, path: &str) -> Result<Status, Refused> {
        Ok(self.nodes[self.find(path)? as usize].status())
    }

    /// Do it, or refuse and leave everything as it was.
    ///
    /// # Errors
    ///
    /// Why it is refused.
    pub fn apply(&mut self, mutation: &Mutation) -> Result<(), Refused> {
        match *mutation {
            Mutation::Mkdir { path, at_ms } => self.add(path, 0, at_ms),
            Mutation::Create { path, at_ms } => self.add(path, FILE, at_ms),
            Mutation::Rename { path, name, at_ms } => self.rename(path, name, at_ms),
            Mutation::Delete { path } => self.delete(path),
        }
    }

    /// Every file and directory with its path, in no particular order.
    pub fn each(&self) -> impl Iterator<Item = (String, Status)> {
        self.by_name
            .iter()
            .map(|&index| (self.path(index), self.nodes[index as usize].status()))
    }

    /// The same for the same files and directories, however they came to be.
    #[must_use]
    pub fn digest(&self) -> u64 {
        self.each().fold(0, |digest, (path, status)| {
            let kind = u64::from(status.children.is_some());
            let own = xxh3_64_with_seed(path.as_bytes(), status.modified_ms << 1 | kind);
            digest.wrapping_add(own)
        })
    }

    fn add(&mut self, path: &str, children: u32, modified_ms: u64) -> Result<(), Refused> {
        let (parent, name) = self.parent(path)?;
        let index = match self.free.last() {
            Some(&index) => index,
            None => u32::try_from(self.nodes.len()).map_err(|_| Refused::Full)?,
        };
        let nodes = &self.nodes;
        let found = self.by_name.entry(
            hash(parent, name),
            |&index| is(nodes, index, parent, name),
            |&index| rehash(nodes, index),
        );
        let Entry::Vacant(place) = found else {
            return Err(Refused::There(path.into()));
        };
        place.insert(index);
        let node = Node {
            name: name.into(),
            modified_ms,
            parent,
            children,
        };
        if self.free.pop().is_some() {
            self.nodes[index as usize] = node;
        } else {
            self.nodes.push(node);
        }
        self.nodes[parent as usize].children += 1;
        Ok(())
    }

    fn rename(&mut self, path: &str, name: &str, at_ms: u64) -> Result<(), Refused> {
        let (parent, old) = self.parent(path)?;
        let index = self
            .child(parent, old)
            .ok_or_else(|| Refused::Missing(path.into()))?;
        let new = name.as_bytes();
        if new.is_empty() || new.contains(&b'/') {
            return Err(Refused::Path(name.into()));
        }
        if self.child(parent, new).is_some() {
            return Err(Refused::There(name.into()));
        }
        self.forget(parent, old);
        self.nodes[index as usize].name = new.into();
        self.nodes[index as usize].modified_ms = at_ms;
        let nodes = &self.nodes;
        let place = hash(parent, new);
        self.by_name
            .insert_unique(place, index, |&index| rehash(nodes, index));
        Ok(())
    }

    fn delete(&mut self, path: &str) -> Result<(), Refused> {
        let (parent, name) = self.parent(path)?;
        let index = self
            .child(parent, name)
            .ok_or_else(|| Refused::Missing(path.into()))?;
        if !matches!(self.nodes[index as usize].children, 0 | FILE) {
            return Err(Refused::NotEmpty(path.into()));
        }
        self.forget(parent, name);
        self.nodes[index as usize].name = Box::default();
        self.nodes[parent as usize].children -= 1;
        self.free.push(index);
        Ok(())
    }

    fn forget(&mut self, parent: u32, name: &[u8]) {
        let nodes = &self.nodes;
        let place = hash(parent, name);
        let found = self
            .by_name
            .find_entry(place, |&index| is(nodes, index, parent, name));
        found.expect("it was found before").remove();
    }

    fn find(&self, path: &str) -> Result<u32, Refused> {
        let names = path
            .strip_prefix('/')
            .ok_or_else(|| Refused::Path(path.into()))?;
        if names.is_empty() {
            return Ok(ROOT);
        }
        let mut node = ROOT;
        for name in names.split('/') {
            if name.is_empty() {
                return Err(Refused::Path(path.into()));
            }
            let child = self.child(node, name.as_bytes());
            node = child.ok_or_else(|| Refused::Missing(path.into()))?;
        }
        Ok(node)
    }

    /// The directory that holds `path`, and its name there.
    fn parent<'a>(&self, path: &'a str) -> Result<(u32, &'a [u8]), Refused> {
        let split = path.rsplit_once('/').filter(|(_, name)| !name.is_empty());
        let (directory, name) = split.ok_or_else(|| Refused::Path(path.into()))?;
        let parent = if directory.is_empty() {
            ROOT
        } else {
            self.find(directory)?
        };
        if self.nodes[parent as usize].children == FILE {
            return Err(Refused::NoDirectory(directory.into()));
        }
        Ok((parent, name.as_bytes()))
    }

    fn child(&self, parent: u32, name: &[u8]) -> Option<u32> {
        let place = hash(parent, name);
        let is_it = |&index: &u32| is(&self.nodes, index, parent, name);
        self.by_name.find(place, is_it).copied()
    }

    fn path(&self, mut index: u32) -> String {
        let mut names = Vec::new();
        while index != ROOT {
            let node = &self.nodes[index as usize];
            names.push(String::from_utf8_lossy(&node.name));
            index = node.parent;
        }
        names
            .iter()
            .rev()
            .fold(String::new(), |path, name| path + "/" + name)
    }
}

fn is(nodes: &[Node], index: u32, parent: u32, name: &[u8]) -> bool {
    let node = &nodes[index as usize];
    node.parent == parent && *node.name == *name
}

fn hash(parent: u32, name: &[u8]) -> u64 {
    xxh3_64_with_seed(name, u64::from(parent))
}

fn rehash(nodes: &[Node], index: u32) -> u64 {
    let node = &nodes[index as usize];
    hash(node.parent, &node.name)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn mkdir(path: &str) -> Mutation<'_> {
        Mutation::Mkdir { path, at_ms: 1 }
    }

    fn create(path: &str) -> Mutation<'_> {
        Mutation::Create { path, at_ms: 2 }
    }

    #[test]
    fn what_is_made_is_found_renamed_and_deleted() {
        let mut tree = Tree::default();
        tree.apply(&mkdir("/d")).unwrap();
        tree.apply(&create("/d/f")).unwrap();
        assert_eq!(tree.status("/d").unwrap().children, Some(1));
        assert_eq!(tree.status("/d/f").unwrap().children, None);
        let to_g = Mutation::Rename {
            path: "/d/f",
            name: "g",
            at_ms: 3,
        };
        tree.apply(&to_g).unwrap();
        assert_eq!(tree.status("/d/f"), Err(Refused::Missing("/d/f".into())));
        assert_eq!(tree.status("/d/g").unwrap().modified_ms, 3);
        tree.apply(&Mutation::Delete { path: "/d/g" }).unwrap();
        tree.apply(&Mutation::Delete { path: "/d" }).unwrap();
        assert!(tree.is_empty());
    }

    #[test]
    fn what_cannot_be_is_refused_and_changes_nothing() {
        let mut tree = Tree::default();
        tree.apply(&mkdir("/d")).unwrap();
        tree.apply(&create("/d/f")).unwrap();
        let before = tree.digest();
        let refused = [
            (create("/d/f"), Refused::There("/d/f".into())),
            (create("/no/f"), Refused::Missing("/no".into())),
            (create("/d/f/g"), Refused::NoDirectory("/d/f".into())),
            (create("/"), Refused::Path("/".into())),
            (create("relative"), Refused::Path("relative".into())),
            (mkdir("/d//e"), Refused::Path("/d/".into())),
            (
                Mutation::Delete { path: "/d" },
                Refused::NotEmpty("/d".into()),
            ),
            (
                Mutation::Delete { path: "/x" },
                Refused::Missing("/x".into()),
            ),
            (
                Mutation::Rename {
                    path: "/d/f",
                    name: "f",
                    at_ms: 0,
                },
                Refused::There("f".into()),
            ),
            (
                Mutation::Rename {
                    path: "/d/f",
                    name: "a/b",
                    at_ms: 0,
                },
                Refused::Path("a/b".into()),
            ),
        ];
        for (mutation, why) in refused {
            assert_eq!(tree.apply(&mutation), Err(why), "{mutation:?}");
            assert_eq!(tree.digest(), before);
        }
    }

    proptest! {
        #[test]
        fn it_holds_what_a_plain_map_would(steps in proptest::collection::vec((0..4u8, 0..6u8, 0..6u8), 0..80)) {
            let mut tree = Tree::default();
            let mut plain: BTreeMap<String, bool> = BTreeMap::new();
            for (kind, from, to) in steps {
                let (path, name) = (format!("/{from}"), to.to_string());
                let renamed = format!("/{to}");
                match kind {
                    0 | 1 => {
                        let made = tree.apply(&if kind == 0 { mkdir(&path) } else { create(&path) });
                        prop_assert_eq!(made.is_ok(), !plain.contains_key(&path));
                        plain.entry(path).or_insert(kind == 0);
                    }
                    2 => {
                        let gone = tree.apply(&Mutation::Delete { path: &path });
                        prop_assert_eq!(gone.is_ok(), plain.remove(&path).is_some());
                    }
                    _ => {
                        let rename = Mutation::Rename { path: &path, name: &name, at_ms: 9 };
                        let can = plain.contains_key(&path) && !plain.contains_key(&renamed);
                        prop_assert_eq!(tree.apply(&rename).is_ok(), can);
                        if can {
                            let kind = plain.remove(&path).unwrap();
                            plain.insert(renamed, kind);
                        }
                    }
                }
            }
            let held: BTreeMap<_, _> = tree.each().map(|(path, s)| (path, s.children.is_some())).collect();
            prop_assert_eq!(held, plain);
            let mut image = Vec::new();
            tree.encode(&mut image);
            let again = Tree::decode(&image).unwrap();
            prop_assert_eq!(again.digest(), tree.digest());
            prop_assert_eq!(again.free.len(), tree.free.len());
        }
    }
}
