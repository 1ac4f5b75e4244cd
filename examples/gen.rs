use endtable::bearoff::generate::*; use endtable::bearoff::gnubg;
fn main(){ let a:Vec<String>=std::env::args().collect(); let p:u8=a[1].parse().unwrap();
 let has=|s:&str|a.iter().any(|x|x==s);
 let g=!has("-g"); let form=if has("-n"){Form::Normal}else if has("-e"){Form::Exact}else{Form::Rounded};
 if let Some(i)=a.iter().position(|x|x=="-j"){rayon::ThreadPoolBuilder::new().num_threads(a[i+1].parse().unwrap()).build_global().unwrap();}
 let t=std::time::Instant::now();
 let r=OneSided{points:p,chequers:15,gammon:g,form}.generate(&|_|Ok(())).unwrap();
 eprintln!("generated {:?}",t.elapsed());
 if has("-x"){return;}
 let kind= match form {Form::Normal=>gnubg::Kind::Normal{points:p,chequers:15},_=>gnubg::Kind::OneSided{points:p,chequers:15,gammon:g,compressed:!has("-c")}};
 gnubg::write(std::path::Path::new(&a[2]),kind,&r,gnubg::Export{overwrite:true,beyond_gnubg:true},&|_|Ok(())).unwrap();
 eprintln!("written {:?}",t.elapsed());
}
